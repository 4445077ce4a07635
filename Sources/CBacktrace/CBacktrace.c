// What runs in the handler must not take a lock or memory that the interrupted thread may hold: it makes system calls, and reads
// the mapped program. The exception is Swift's demangler, which allocates; so the addresses are written before the names, and an
// alarm ends a process that hangs there.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CBacktrace.h"

#if defined(__linux__)
#include <features.h>
#endif

#if defined(__GLIBC__)

#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { maxFrames = 128, patience = 10 };

/// In Swift's runtime; the program has it also when it is linked statically. Returns memory of its own for a null buffer.
extern char *swift_demangle(const char *name, size_t length, char *buffer, size_t *bufferLength, uint32_t flags)
    __attribute__((weak));

static const struct { int number; const char *name; } fatalSignals[] = {
    {SIGILL, "SIGILL"}, {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
    {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGSEGV, "SIGSEGV"},
};
static char logPath[PATH_MAX];
static char alternateStack[64 * 1024];

/// The program as it lies in memory: where its addresses begin, and its last one.
static struct { uintptr_t start, end; } program;

/// The table of symbols in the program's file.
struct symbols {
    const ElfW(Sym) *all;
    size_t count;
    const char *names;
    size_t namesSize;
};

static void put(int file, const char *text, size_t length) {
    while (length > 0) {
        ssize_t written = write(file, text, length);
        if (written <= 0) return;
        text += written;
        length -= (size_t)written;
    }
}

static void say(int file, const char *text) { put(file, text, strlen(text)); }

static void sayNumber(int file, uint64_t number, unsigned base, int digits) {
    char text[20];
    int at = sizeof text;
    do {
        text[--at] = "0123456789abcdef"[number % base];
        number /= base;
    } while (at > 0 && (number > 0 || (int)sizeof text - at < digits));
    put(file, text + at, sizeof text - (size_t)at);
}

/// Writes the time as the log's other lines have it. The system's functions for dates read the time zone.
static void sayTime(int file) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    // Days since 1970-01-01 to a date: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
    int64_t second = now.tv_sec % 86400, days = now.tv_sec / 86400 + 719468, era = days / 146097;
    unsigned day = (unsigned)(days - era * 146097);
    unsigned year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    unsigned ofYear = day - (365 * year + year / 4 - year / 100), shifted = (5 * ofYear + 2) / 153;
    unsigned month = shifted < 10 ? shifted + 3 : shifted - 9;
    sayNumber(file, (uint64_t)(era * 400 + year + (month <= 2)), 10, 4);
    say(file, "-");
    sayNumber(file, month, 10, 2);
    say(file, "-");
    sayNumber(file, ofYear - (153 * shifted + 2) / 5 + 1, 10, 2);
    say(file, "T");
    sayNumber(file, (uint64_t)(second / 3600), 10, 2);
    say(file, ":");
    sayNumber(file, (uint64_t)(second / 60 % 60), 10, 2);
    say(file, ":");
    sayNumber(file, (uint64_t)(second % 60), 10, 2);
    say(file, "Z");
}

/// Maps the program's file and finds its table of symbols: the whole one, or that of the dynamic linker in a stripped program.
static struct symbols readSymbols(void) {
    struct symbols found = {0};
    struct stat status;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0) return found;
    size_t size = (size_t)status.st_size;
    const char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    const ElfW(Ehdr) *header = (const void *)bytes;
    if (bytes == MAP_FAILED || size < sizeof *header || memcmp(bytes, ELFMAG, SELFMAG) != 0) return found;
    if (header->e_shoff > size || header->e_shnum > (size - header->e_shoff) / sizeof(ElfW(Shdr))) return found;
    const ElfW(Shdr) *sections = (const void *)(bytes + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        const ElfW(Shdr) *section = &sections[i];
        int isWhole = section->sh_type == SHT_SYMTAB;
        if (!isWhole && (section->sh_type != SHT_DYNSYM || found.all)) continue;
        if (section->sh_link >= header->e_shnum) continue;
        const ElfW(Shdr) *names = &sections[section->sh_link];
        if (section->sh_offset > size || section->sh_size > size - section->sh_offset) continue;
        if (names->sh_offset > size || names->sh_size > size - names->sh_offset) continue;
        found = (struct symbols){
            (const void *)(bytes + section->sh_offset), section->sh_size / sizeof(ElfW(Sym)),
            bytes + names->sh_offset, names->sh_size,
        };
        if (isWhole) break;
    }
    return found;
}

/// Writes the name of the function that has the address, which counts from the program's start, and how far into it that is.
static void sayFunction(int file, const struct symbols *symbols, uintptr_t address) {
    const ElfW(Sym) *best = NULL;
    for (size_t i = 0; i < symbols->count; i++) {
        const ElfW(Sym) *symbol = &symbols->all[i];
        if ((symbol->st_info & 0xF) != STT_FUNC || symbol->st_shndx == SHN_UNDEF) continue;
        if (symbol->st_value <= address && (!best || symbol->st_value > best->st_value)) best = symbol;
    }
    if (!best || best->st_name >= symbols->namesSize) {
        say(file, "(no name)");
        return;
    }
    const char *name = symbols->names + best->st_name;
    char *readable = swift_demangle ? swift_demangle(name, strlen(name), NULL, NULL, 0) : NULL;
    say(file, readable ? readable : name);
    say(file, " + ");
    sayNumber(file, address - best->st_value, 10, 1);
}

static uintptr_t interruptedAt(const void *context) {
#if defined(__x86_64__)
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
#else
    return 0;
#endif
}

static void trapped(int number, siginfo_t *info, void *context) {
    // A second fault in here ends the process: its handlers are the system's again.
    for (size_t i = 0; i < sizeof fatalSignals / sizeof *fatalSignals; i++) signal(fatalSignals[i].number, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    alarm(patience);

    int file = logPath[0] ? open(logPath, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) : 2;
    if (file >= 0) {
        void *frames[maxFrames];
        int count = backtrace(frames, maxFrames), first = 0;
        uintptr_t at = interruptedAt(context);
        for (int i = 0; i < count; i++) if ((uintptr_t)frames[i] == at) first = i;

        sayTime(file);
        say(file, " critical ferry: trapped: ");
        for (size_t i = 0; i < sizeof fatalSignals / sizeof *fatalSignals; i++)
            if (fatalSignals[i].number == number) say(file, fatalSignals[i].name);
        say(file, ", backtrace:");
        for (int i = first; i < count; i++) {
            uintptr_t address = (uintptr_t)frames[i];
            say(file, " 0x");
            sayNumber(file, address >= program.start && address < program.end ? address - program.start : address, 16, 1);
        }
        say(file, "\n");
        struct symbols symbols = readSymbols();
        for (int i = first; i < count; i++) {
            uintptr_t address = (uintptr_t)frames[i];
            say(file, "    ");
            sayNumber(file, (uint64_t)(i - first), 10, 1);
            say(file, "  ");
            if (address >= program.start && address < program.end) {
                // A return address may be the first of the next function: the call is before it.
                sayFunction(file, &symbols, address - program.start - (i > first));
                say(file, "\n");
            } else {
                backtrace_symbols_fd(&frames[i], 1, file);
            }
        }
    }
    // What trapped does so again, now without a handler; a signal that was sent is sent again.
    if (info->si_code <= 0) raise(number);
}

static int noteProgram(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    program.start = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
        if (part->p_type == PT_LOAD && end > program.end) program.end = end;
    }
    return 1; // The first one is the program itself.
}

void ferry_backtrace_on_traps(const char *path) {
    if (path && strlen(path) < sizeof logPath) strcpy(logPath, path);
    dl_iterate_phdr(noteProgram, NULL);
    // The first call may load libgcc, which takes memory.
    void *frame;
    backtrace(&frame, 1);
    // The thread that calls this also tells of a stack that is full.
    stack_t stack = {.ss_sp = alternateStack, .ss_size = sizeof alternateStack};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = trapped;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof fatalSignals / sizeof *fatalSignals; i++) sigaction(fatalSignals[i].number, &action, NULL);
}

#else

void ferry_backtrace_on_traps(const char *path) { (void)path; }

#endif
