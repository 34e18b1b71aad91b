/// A request to copy files of another service into a user's account (dossier 3.3).
public struct ConnectRequest: Sendable, Hashable {
    /// The email address of the user's account. The service creates an account when there is none.
    public let email: Sequencing.EmailAddress
    public let files: [File]

    /// A file that Sequencing.com downloads.
    public struct File: Sendable, Hashable {
        /// The contents of a file.
        public enum Kind: String, Sendable, Hashable {
            case geneticData = "0"
            case report = "1"
        }

        public let name: String
        public let kind: Kind
        /// The URL that the service downloads: http, https or ftp.
        public let url: String
        /// The hash algorithm; `0` is the only known value.
        public let digestType: String
        /// The hash, or `0`.
        public let digest: String
        /// The length in bytes, if known.
        public let size: Int64?

        /// Describes a file that the service downloads.
        ///
        /// - Throws: ``SequencingError/input(member:problem:)`` for an empty name or a URL that cannot be downloaded.
        public init(
            name: String, kind: Kind = .geneticData, url: String, digestType: String = "0", digest: String = "0",
            size: Int64? = nil
        ) throws(SequencingError) {
            guard !name.isEmpty else { throw .input(member: "name", problem: "must not be empty") }
            let scheme = url.prefix { $0 != ":" }.lowercased()
            guard ["http", "https", "ftp"].contains(scheme), url.dropFirst(scheme.count).hasPrefix("://"),
                url.utf8.count > scheme.count + 3, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else {
                throw .input(
                    member: "url", problem: "must be an http, https or ftp URL without spaces or accented letters")
            }
            guard size ?? 0 >= 0 else { throw .input(member: "size", problem: "must not be negative") }
            self.name = name
            self.kind = kind
            self.url = url
            self.digestType = digestType
            self.digest = digest
            self.size = size
        }
    }

    /// - Throws: ``SequencingError/input(member:problem:)`` without files.
    public init(email: Sequencing.EmailAddress, files: [File]) throws(SequencingError) {
        guard !files.isEmpty else { throw .input(member: "files", problem: "must name at least one file") }
        self.email = email
        self.files = files
    }
}
