#include "EmbeddedBytes.h"

static const uint8_t words[] = {
#embed "../ConnectedAccountsUI/Words/Strings.xcstrings"
};
EMBEDDED_BYTES(handshake_connected_accounts_words, words)

static const uint8_t script[] = {
#embed "../ConnectedAccountsUI/Web/connected-accounts.js"
};
EMBEDDED_BYTES(handshake_connected_accounts_script, script)
