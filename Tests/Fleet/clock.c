// A wall clock that is wrong by CLOCK_OFFSET seconds, for programs that preload this. Clocks that do not jump are left alone, and
// absolute times that are given to the kernel are corrected: a wait is as long as it would be with the right clock.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

static long offset(void) {
    const char *text = getenv("CLOCK_OFFSET");
    return text ? atol(text) : 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = REAL(clock_gettime)(clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int result = REAL(gettimeofday)(now, zone);
    if (result == 0) now->tv_sec += offset();
    return result;
}

time_t time(time_t *now) {
    time_t seconds = REAL(time)(NULL) + offset();
    if (now) *now = seconds;
    return seconds;
}

// Times of other clocks, which begin with the machine, are smaller.
static struct timespec corrected(const struct timespec *until) {
    struct timespec right = *until;
    if (right.tv_sec > 1000000000) right.tv_sec -= offset();
    return right;
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
    struct timespec right = corrected(until);
    return REAL(sem_timedwait)(semaphore, &right);
}

int pthread_cond_timedwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
    struct timespec right = corrected(until);
    return REAL(pthread_cond_timedwait)(condition, mutex, &right);
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec *new, struct itimerspec *old) {
    struct itimerspec right = *new;
    if (flags & TFD_TIMER_ABSTIME) right.it_value = corrected(&new->it_value);
    return REAL(timerfd_settime)(descriptor, flags, &right, old);
}
