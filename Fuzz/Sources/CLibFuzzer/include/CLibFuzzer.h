#ifndef FERRY_CLIBFUZZER_H
#define FERRY_CLIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer with the arguments of a program; returns when it is done, with the program's exit code.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*check)(const uint8_t *data, size_t size));

#endif
