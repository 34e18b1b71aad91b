#include "driver.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *start, size_t count);
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *start, size_t count));

// SwiftPM makes a program's `main` the function MODULE_main, so the fuzzer's own is not used.
#define FUZZER(module) \
    int module##_main(int argc, char **argv) { return LLVMFuzzerRunDriver(&argc, &argv, LLVMFuzzerTestOneInput); }

FUZZER(FuzzOAuth)
FUZZER(FuzzVault)
FUZZER(FuzzSettings)
