#ifndef HANDSHAKE_EMBEDDED_FILES_H
#define HANDSHAKE_EMBEDDED_FILES_H

#include <stddef.h>
#include <stdint.h>

/// The bytes of a file that is part of the program.
///
/// For large files: C's `#embed` (C23, section 6.10.4) copies bytes, while SwiftPM's `.embedInCode` makes an array literal
/// that Swift's compiler checks byte by byte. A library whose files have less than about 30 KB together keeps
/// `.embedInCode`. A new file needs a line here, one in the library's C file, and a place in `exclude` of its target.
struct EmbeddedFile {
  const uint8_t *_Nonnull bytes;
  size_t count;
};

#define EMBEDDED_FILE(c_name, name) \
  struct EmbeddedFile c_name(void) __attribute__((swift_name("getter:EmbeddedFile." name "()")))

EMBEDDED_FILE(handshake_connect_button_words, "connectButtonWords");
EMBEDDED_FILE(handshake_connect_button_script, "connectButtonScript");

EMBEDDED_FILE(handshake_file_selector_words, "fileSelectorWords");
EMBEDDED_FILE(handshake_file_selector_look, "fileSelectorLook");
EMBEDDED_FILE(handshake_file_selector_shared_script, "fileSelectorSharedScript");
EMBEDDED_FILE(handshake_file_selector_script, "fileSelectorScript");
EMBEDDED_FILE(handshake_registration_sheet_script, "registrationSheetScript");

EMBEDDED_FILE(handshake_connected_accounts_words, "connectedAccountsWords");
EMBEDDED_FILE(handshake_connected_accounts_script, "connectedAccountsScript");

#undef EMBEDDED_FILE

#endif
