/// Files of another service that are to be copied into somebody's account (dossier 3.3).
public struct ConnectRequest: Sendable, Hashable {
    /// Whose account; one is created when there is none.
    public let email: Sequencing.EmailAddress
    public let files: [File]

    /// A file that Sequencing.com fetches.
    public struct File: Sendable, Hashable {
        /// What a file holds.
        public enum Kind: String, Sendable, Hashable {
            case geneticData = "0"
            case report = "1"
        }

        public let name: String
        public let kind: Kind
        /// Where the service can fetch it: http, https or ftp.
        public let url: String
        /// How it was hashed; `0` is the only value known.
        public let hashType: String
        /// The hash, or `0`.
        public let hashValue: String
        /// The length in bytes, when it is known.
        public let size: Int64?

        /// - Throws: ``SequencingError/input(member:problem:)`` for an empty name or an address that cannot be fetched.
        public init(
            name: String, kind: Kind = .geneticData, url: String, hashType: String = "0", hashValue: String = "0",
            size: Int64? = nil
        ) throws(SequencingError) {
            guard !name.isEmpty else { throw .input(member: "name", problem: "a file needs a name") }
            let scheme = url.prefix { $0 != ":" }.lowercased()
            guard ["http", "https", "ftp"].contains(scheme), url.dropFirst(scheme.count).hasPrefix("://"),
                url.utf8.count > scheme.count + 3, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { throw .input(member: "url", problem: "a file needs an http, https or ftp address") }
            guard size ?? 0 >= 0 else { throw .input(member: "size", problem: "a length is not negative") }
            self.name = name
            self.kind = kind
            self.url = url
            self.hashType = hashType
            self.hashValue = hashValue
            self.size = size
        }
    }

    /// - Throws: ``SequencingError/input(member:problem:)`` without files.
    public init(email: Sequencing.EmailAddress, files: [File]) throws(SequencingError) {
        guard !files.isEmpty else { throw .input(member: "files", problem: "there is nothing to copy") }
        self.email = email
        self.files = files
    }
}
