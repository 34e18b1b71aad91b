import OAuth

/// What a vault's folder says of itself, in plain JSON beside the records: `vault.json`. It holds no secret.
struct VaultDescription: Hashable {
    static let fileName = "vault.json"
    private static let format = 1
    private static let sizeLimit = 4096
    static let idLength = 16

    /// Random bytes that no other vault has.
    let id: [UInt8]
    /// What ``RecordSeal/check`` is with the right key.
    let check: [UInt8]

    /// A new vault's id.
    static func newID() -> [UInt8] {
        (0..<idLength).map { _ in UInt8.random(in: .min ... .max) }
    }

    init(id: [UInt8], check: [UInt8]) {
        self.id = id
        self.check = check
    }

    /// Reads the description in a folder; nil when there is none.
    static func read(in folder: borrowing Folder) throws(VaultError) -> VaultDescription? {
        guard let bytes = try folder.contents(of: fileName, limit: sizeLimit) else { return nil }
        return try VaultDescription(json: bytes, path: folder.path(of: fileName))
    }

    /// Puts the description into a folder, durably.
    func write(in folder: borrowing Folder) throws(VaultError) {
        let text =
            #"{"format":\#(Self.format),"id":"\#(Hexadecimal.text(of: id))","check":"\#(Hexadecimal.text(of: check))"}"#
        try folder.replace(Self.fileName, with: Array("\(text)\n".utf8))
    }

    init(json bytes: [UInt8], path: String) throws(VaultError) {
        // Foundation's decoder would cost each start of a program that opens a vault a twentieth of its time: it looks up types by name.
        let members = (try? JSONValue(parsing: bytes))?.object
        // The format comes first: another format may have other members.
        guard let members, let format = members["format"]?.integer else {
            throw .damaged(what: path, reason: "it is not the JSON description of a vault")
        }
        guard format == Self.format else {
            throw .damaged(
                what: path,
                reason:
                    "it says format \(format), and this version reads format \(Self.format); use the version that wrote it"
            )
        }
        guard let id = members["id"]?.string.flatMap(Hexadecimal.bytes), id.count == Self.idLength,
            let check = members["check"]?.string.flatMap(Hexadecimal.bytes), check.count == Self.idLength
        else {
            throw .damaged(what: path, reason: "its id or its check is missing or is not 32 hexadecimal digits")
        }
        self.init(id: id, check: check)
    }
}
