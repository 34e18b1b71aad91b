#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension VaultMasterKey {
    /// The key in a credential that systemd gives to a service.
    ///
    /// The unit of the service names it: `LoadCredentialEncrypted=handshake-key`. The file holds what a key command prints: 32 bytes, or the
    /// same as 64 hexadecimal digits or 44 characters of Base64, and perhaps a line break.
    ///
    /// - Parameters:
    ///   - name: the credential's name.
    ///   - environment: where `CREDENTIALS_DIRECTORY` is looked up; the process's own unless stated.
    /// - Throws: ``VaultError/locked(_:)`` when there is no such credential, or it is no key; ``VaultError/denied(what:reason:)`` when another
    ///   user could have written it.
    public static func credential(
        named name: String, environment: [String: String]? = nil
    ) throws(VaultError) -> VaultMasterKey {
        let environment = environment ?? ProcessInfo.processInfo.environment
        guard let folder = environment["CREDENTIALS_DIRECTORY"], folder.hasPrefix("/") else {
            throw .locked(
                "its key is the credential “\(name)”, and the environment has no CREDENTIALS_DIRECTORY. "
                    + "Start the program as a service of systemd")
        }
        guard !["", ".", ".."].contains(name), !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 }) else {
            throw .denied(what: name, reason: "a credential's name is that of a file, without a slash")
        }
        let path = "\(folder)/\(name)"
        guard var bytes = try TrustedFile.contents(of: path, limit: 4096, others: .mayReadAndRootMayOwn) else {
            throw .locked(
                "its key is the credential “\(name)”, which this service does not have. "
                    + "Add LoadCredentialEncrypted=\(name) to its unit")
        }
        defer { bytes.resetBytes() }
        guard let key = VaultMasterKey(printed: bytes) else {
            throw .locked("the credential “\(name)” has \(bytes.count) bytes and is no key: \(forms)")
        }
        return key
    }

    /// What a key may be written as.
    static let forms = "a key is \(length) bytes, or the same as 64 hexadecimal digits or 44 characters of Base64"

    /// Reads a key as a program prints it; nil for anything that is not one.
    init?(printed bytes: [UInt8]) {
        if bytes.count == Self.length {
            // A line of text, such as an error message, is no key.
            let isText = bytes.last == UInt8(ascii: "\n") && bytes.allSatisfy { (0x0A...0x7E).contains($0) }
            guard !isText else { return nil }
            self.init(revealed: bytes)
            return
        }
        var line = bytes
        defer { line.resetBytes() }
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        let text = String(decoding: line, as: UTF8.self)
        var key: [UInt8]
        switch line.count {
        case 64: key = Hexadecimal.bytes(of: text.lowercased()) ?? []
        case 44: key = Data(base64Encoded: text).map { Array($0) } ?? []
        default: return nil
        }
        defer { key.resetBytes() }
        self.init(revealed: key)
    }
}
