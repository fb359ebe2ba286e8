"""Mutation testing: one small change of the code at a time, and the tests of its room have to notice.

Neither of the two known tools does what is needed here. mutmut changes the bodies of functions only, and what decides
whether money moved are tables of modules and defaults of classes; cosmic-ray writes each mutant into the working tree
and starts a new process for it, which takes longer than the tests do. Here a process reads the tests of a room once and
forks for each mutant: it exchanges the code of the functions in memory, so nothing on disk is touched.
"""
