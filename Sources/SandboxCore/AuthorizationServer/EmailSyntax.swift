#if Sandbox
/// The stand-in's syntax check of email addresses (Sequencing dossier, section 2.1).
package enum EmailSyntax {
    /// One `@`, with text before it, and after it a name with a dot or an address in brackets.
    package static func isPlausible(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let local = parts.first, let domain = parts.last, !local.isEmpty,
            !text.contains(where: { $0.isWhitespace || $0 == "<" || $0 == ">" })
        else { return false }
        if domain.hasPrefix("["), domain.hasSuffix("]") { return domain.count > 2 }
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1 && labels.allSatisfy { !$0.isEmpty }
    }
}
#endif
