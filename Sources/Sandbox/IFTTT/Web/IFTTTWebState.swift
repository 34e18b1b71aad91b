/// What the web flow remembers (IFTTT Connect dossier, section 11.3).
struct IFTTTWebState: Sendable {
}
