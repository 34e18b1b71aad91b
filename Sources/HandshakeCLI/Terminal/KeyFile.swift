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
        try key(in: contents(of: path), path: path, keyID: keyID)
    }

    /// The bytes of a file with a key.
    ///
    /// - Throws: ``CommandError`` when there is no such file, or other users can read it.
    static func contents(of path: String) throws(CommandError) -> [UInt8] {
        try SecretLine.requireFile(path, what: "key", option: nil)
        guard let bytes = try UserFile.secret(Settings.absolute(path)) else {
            throw CommandError.usage("The key file “\(quoted(path, limit: 200))” does not exist.")
        }
        return bytes
    }

    /// The key in the bytes of a file.
    ///
    /// - Parameter path: what errors call the file.
    static func key(in bytes: [UInt8], path: String, keyID: String?) throws(CommandError) -> SigningKey {
        let name = quoted(path, limit: 200)
        guard !ServiceAccountKey.isMeant(by: bytes) else {
            throw CommandError.usage(
                "“\(name)” is the key file of a service account. To sign in with it, add --grant jwt-bearer.")
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
