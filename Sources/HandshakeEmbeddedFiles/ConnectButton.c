#include "EmbeddedBytes.h"

static const uint8_t words[] = {
#embed "../ConnectButton/Words/Strings.xcstrings"
};
EMBEDDED_BYTES(handshake_connect_button_words, words)

static const uint8_t script[] = {
#embed "../ConnectButton/Web/connect-button.min.js"
};
EMBEDDED_BYTES(handshake_connect_button_script, script)
