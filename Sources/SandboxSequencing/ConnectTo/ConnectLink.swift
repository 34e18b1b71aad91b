#if Sandbox
import Crypto
import CryptoExtras
import SandboxCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The encrypted link by which another service's app pushes files into an account (Sequencing dossier, section 3.3).
///
/// It is what the old protocol had and protects little: the key is the client secret itself, the initialisation vector
/// is fixed, and nothing shows that the text was not changed (W11).
struct ConnectLink: Sendable, Equatable {
    /// One file to fetch.
    struct File: Sendable, Equatable {
        let name: String
        /// `0` for a file of genetic data, `1` for a report.
        let type: String
        let url: String
        let hashType: String
        let hashValue: String
        /// Bytes, or `0` when unknown.
        let size: String
    }

    /// Why a link is refused, as the page says it.
    enum Refusal: String, Error, Sendable {
        case client = "No app with this hash is registered."
        case cipher = "The request cannot be decrypted with this app's key."
        case json = "What was decrypted is not the JSON object that it should be."
        case secret = "The client_id inside does not belong to the hash."
        case email = "The e-mail address is missing or not valid."
        case files = "The files are missing, or one of them lacks a member, a name or a URL."
    }

    let email: String
    let files: [File]
    /// The Market console adds it; it is reported and not followed.
    let redirectURI: String?

    /// Reads the query of a link.
    ///
    /// - Parameter secrets: the client secrets among which `c` chooses.
    init(_ query: FormParameters, secrets: [String]) throws(Refusal) {
        guard let hash = query["c"]?.lowercased(), let secret = secrets.first(where: { Self.hash(of: $0) == hash })
        else { throw .client }
        guard let text = query["json"], let plain = Self.decrypted(text, secret: secret) else { throw .cipher }
        guard let json = JSON(parsing: plain), case .object = json else { throw .json }
        guard json["client_id"]?.scalarText == secret else { throw .secret }
        guard let email = json["email"]?.scalarText, EmailSyntax.isPlausible(email) else { throw .email }
        guard let elements = json["files"]?.elements, !elements.isEmpty else { throw .files }
        let files = elements.compactMap(File.init)
        guard files.count == elements.count else { throw .files }
        self.email = email
        self.files = files
        redirectURI = json["redirect_uri"]?.scalarText
    }

    /// Lower-case hexadecimal MD5.
    private static func hash(of secret: String) -> String {
        Insecure.MD5.hash(data: Data(secret.utf8)).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// AES-256-CBC with PKCS#7, the key being the first 32 bytes of the secret, padded with zeros.
    ///
    /// A `+` that was not percent-encoded arrives as a space, and one Python client encodes twice; both are corrected.
    private static func decrypted(_ text: String, secret: String) -> [UInt8]? {
        let once = text.contains("%") ? PercentCoding.formDecoded(text) : text
        let base64 = String(once.map { $0 == " " ? "+" : $0 })
        let key = Array(secret.utf8.prefix(32))
        let padded = key + [UInt8](repeating: 0, count: 32 - key.count)
        guard let bytes = Data(base64Encoded: base64), let vector = try? AES._CBC.IV(ivBytes: vector) else {
            return nil
        }
        let plain = try? AES._CBC.decrypt(bytes, using: SymmetricKey(data: padded), iv: vector)
        return plain.map { Array($0) }
    }

    private static let vector = Array("3n3CrwwnzMqxOssv".utf8)
}

extension ConnectLink.File {
    /// All six members are strings, and type, name and URL make sense.
    fileprivate init?(_ json: JSON) {
        let texts = ["name", "type", "url", "hashType", "hashValue", "size"].compactMap { name -> String? in
            guard case .string(let text)? = json[name] else { return nil }
            return text
        }
        guard texts.count == 6, !texts[0].isEmpty, texts[1] == "0" || texts[1] == "1",
            ["http://", "https://", "ftp://"].contains(where: texts[2].hasPrefix)
        else { return nil }
        self.init(
            name: texts[0], type: texts[1], url: texts[2], hashType: texts[3], hashValue: texts[4], size: texts[5])
    }
}
#endif
