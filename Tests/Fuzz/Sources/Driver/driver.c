#include "driver.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *start, size_t count);

#ifdef TIMES
// The length to which libFuzzer is limited too.
enum { longest = 4096 };

// Reads each file that is named once.
static int run(int argc, char **argv) {
    for (int index = 1; index < argc; index++) {
        uint8_t bytes[longest];
        FILE *file = fopen(argv[index], "rb");
        if (!file) {
            perror(argv[index]);
            return 2;
        }
        size_t count = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        LLVMFuzzerTestOneInput(bytes, count);
    }
    return 0;
}
#else
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *start, size_t count));

static int run(int argc, char **argv) { return LLVMFuzzerRunDriver(&argc, &argv, LLVMFuzzerTestOneInput); }
#endif

// SwiftPM makes a program's `main` the function MODULE_main, so the fuzzer's own is not used.
#define FUZZER(module) \
    int module##_main(int argc, char **argv) { return run(argc, argv); }

FUZZER(FuzzOAuth)
FUZZER(FuzzCircles)
FUZZER(FuzzVault)
FUZZER(FuzzSettings)
