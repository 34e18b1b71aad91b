#if CommandLine
import OAuth

/// A file with a client's private key. It gets the checks of a file with a secret.
enum KeyFile {
    /// The key in a file.
    ///
    /// - Parameters:
    ///   - keyID: the name that the server knows the key by; of a set, the key to use.
    /// - Throws: ``CommandError`` when there is no such file, other users can read it, or it has no usable key.
    static func read(_ path: String, keyID: String?) throws(CommandError) -> SigningKey {
        try SecretLine.requireFile(path, what: "key", option: nil)
        let name = quoted(path, limit: 200)
        guard let bytes = try UserFile.secret(Settings.absolute(path)) else {
            throw CommandError.usage("The file “\(name)” with the key does not exist.")
        }
        do {
            return try SigningKey(parsing: bytes, keyID: keyID)
        } catch .configuration(_, let problem) {
            throw CommandError.usage("The key in “\(name)” cannot be used: \(problem).")
        } catch {
            throw CommandError.usage("The key in “\(name)” cannot be used: \(error)")
        }
    }
}
#endif
