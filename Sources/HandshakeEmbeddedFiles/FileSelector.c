#include "EmbeddedBytes.h"

static const uint8_t words[] = {
#embed "../FileSelector/Words/Strings.xcstrings"
};
EMBEDDED_BYTES(handshake_file_selector_words, words)

static const uint8_t look[] = {
#embed "../FileSelector/Look/Look.json"
};
EMBEDDED_BYTES(handshake_file_selector_look, look)

static const uint8_t shared_script[] = {
#embed "../FileSelector/Web/shared.js"
};
EMBEDDED_BYTES(handshake_file_selector_shared_script, shared_script)

static const uint8_t script[] = {
#embed "../FileSelector/Web/file-selector.js"
};
EMBEDDED_BYTES(handshake_file_selector_script, script)

static const uint8_t registration_sheet_script[] = {
#embed "../FileSelector/Web/registration-sheet.js"
};
EMBEDDED_BYTES(handshake_registration_sheet_script, registration_sheet_script)
