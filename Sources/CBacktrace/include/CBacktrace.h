/// A backtrace, with the names of functions, of a program that traps. For programs that nobody watches: the toolchain's own
/// backtraces need a second program beside them, which installed programs do not have.
#pragma once

/// From now on a fatal signal (SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV) appends a backtrace to the file at `path`, made
/// with mode 0600 if it is missing, or writes it to standard error if `path` is null. The process then ends by that signal, as it
/// would have without this. Does nothing where the system cannot unwind a stack (only glibc can).
///
/// Names come from the program's own table of symbols, so they are there as long as it is not stripped of it.
void ferry_backtrace_on_traps(const char *path);
