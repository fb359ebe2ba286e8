/* A disk that refuses to store anything, for one process. Preloaded; beneath the folder FAILING_DISK every write ends with
 * the number in the file FAILING_DISK_ERRNO, for as long as that file is there; where a word follows it, only of files whose
 * names have it. What else goes wrong is as Linux has it: a disk with errors does not flush, and a read-only file system
 * opens no file for writing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __thread int asking;

static int fault(const char *path) {
    int code = 0;
    char part[64] = "";
    const char *name = getenv("FAILING_DISK_ERRNO");
    if (!name || asking) return 0;
    asking = 1;
    FILE *file = fopen(name, "r");
    if (file) {
        if (fscanf(file, "%d %63s", &code, part) < 1) code = 0;
        fclose(file);
    }
    asking = 0;
    return strstr(path, part) ? code : 0;
}

static int beneath(const char *path) {
    const char *folder = getenv("FAILING_DISK");
    return folder && path && !strncmp(path, folder, strlen(folder));
}

static int refuses(int fd) {
    char name[64], path[4096];
    int code;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    if (!beneath(path) || !(code = fault(path))) return 0;
    errno = code;
    return 1;
}

static int refuses_to_open(const char *path, int flags) {
    if (!(flags & (O_WRONLY | O_RDWR)) || !beneath(path) || fault(path) != EROFS) return 0;
    errno = EROFS;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *from, size_t size) { return refuses(fd) ? -1 : REAL(write)(fd, from, size); }
ssize_t pwrite(int fd, const void *from, size_t size, off_t at) {
    return refuses(fd) ? -1 : REAL(pwrite)(fd, from, size, at);
}
ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at) {
    return refuses(fd) ? -1 : REAL(pwrite64)(fd, from, size, at);
}
int fsync(int fd) { return refuses(fd) && errno == EIO ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return refuses(fd) && errno == EIO ? -1 : REAL(fdatasync)(fd); }

#define OPENS(name)                                             \
    int name(const char *path, int flags, ...) {                \
        va_list more;                                           \
        va_start(more, flags);                                  \
        mode_t mode = va_arg(more, int);                        \
        va_end(more);                                           \
        if (refuses_to_open(path, flags)) return -1;            \
        return REAL(name)(path, flags, mode);                   \
    }
OPENS(open)
OPENS(open64)

int access(const char *path, int mode) {
    if ((mode & W_OK) && refuses_to_open(path, O_RDWR)) return -1;
    return REAL(access)(path, mode);
}
