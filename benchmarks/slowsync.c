/* Makes every fsync and fdatasync take a fixed time longer: real disks differ by a factor of fifty within
 * minutes, so they are no yardstick. Preloaded; SLOWSYNC_US is the time in microseconds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static int us = -1;

static void wait_fixed(void) {
    if (us < 0) {
        const char *set = getenv("SLOWSYNC_US");
        us = set ? atoi(set) : 0;
    }
    if (us > 0) usleep(us);
}

int fsync(int fd) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    wait_fixed();
    return real(fd);
}

int fdatasync(int fd) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    wait_fixed();
    return real(fd);
}
