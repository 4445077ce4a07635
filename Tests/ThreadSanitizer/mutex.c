// Tells the thread sanitizer of the locks that it cannot see, on Linux.
//
// `Synchronization.Mutex` takes a free lock with an atomic that the compiler puts into our code, where the sanitizer sees it.
// One that another thread holds is taken and given back by the kernel, called from the standard library, which is not built
// for the sanitizer: what the two threads did under the lock looks to it like a race. These two functions stand before those
// of the library, and say who gave the lock to whom. Nothing is silenced: a race beside the lock is reported as before.
//
// One kind of false report stays: a continuation that another thread resumes before its task awaits it. The runtime goes on
// at once then, without telling the sanitizer, and its function cannot be replaced. The two stacks are a read of the value
// after the `await`, and the write before `resume(returning:)`. It is rare: the other thread must be done sooner than the
// call that gave it the work.
//
// The names are the library's own. Should a later one have others, this has no effect, and the false reports come back.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

static SWIFT void (*lock_slow)(uint32_t thread, SELF void *handle);
static SWIFT void (*unlock_slow)(SELF void *handle);

__attribute__((constructor)) static void find(void) {
    *(void **)&lock_slow = dlsym(RTLD_NEXT, LOCK_SLOW);
    *(void **)&unlock_slow = dlsym(RTLD_NEXT, UNLOCK_SLOW);
}

// Weak: a program that is linked without the sanitizer has neither.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

SWIFT void ferry_lock_slow(uint32_t thread, SELF void *handle) __asm__(LOCK_SLOW);
SWIFT void ferry_unlock_slow(SELF void *handle) __asm__(UNLOCK_SLOW);

SWIFT void ferry_lock_slow(uint32_t thread, SELF void *handle) {
    lock_slow(thread, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT void ferry_unlock_slow(SELF void *handle) {
    if (__tsan_release) __tsan_release(handle);
    unlock_slow(handle);
}
