import Handshake
public import OAuth

/// A genetic data file at Sequencing.com (dossier 4.1).
public struct GeneticFile: Sendable, Hashable, Identifiable {
    public let id: FileID
    /// The file's name with its extension. It is the identifier when the service sends none. Not unique.
    public let name: String
    public let category: FileCategory
    /// When the file was added, as the service sends it. As far as known, it is ISO 8601 without a time zone.
    public let dateAdded: String?
    /// The extension, such as `.vcf.gz`.
    public let fileExtension: String?
    /// The kind of data, such as `VCF`.
    public let type: String?
    /// The subtype, such as `Genome`.
    public let subtype: String?
    /// A sample's persona: `FriendlyDesc1`.
    public let personaName: String?
    /// The persona in one line: `FriendlyDesc2`.
    public let personaDescription: String?
    public let population: String?
    public let sex: Sex?
    /// All members of the answer.
    public let members: JSONObject

    /// Reads a record. Only `Id` is required; other members may be absent, null or of another type, and a number may
    /// take the place of a text (dossier 9.5).
    ///
    /// - Throws: ``SequencingError/malformed(answer:member:expected:found:)``.
    public init(_ record: JSONValue) throws(SequencingError) {
        try self.init(record, place: "")
    }

    init(_ record: JSONValue, place: String) throws(SequencingError) {
        let record = try Members(record, answer: "DataSourceList", place: place)
        guard let id = record.identifier("Id") else {
            throw record.wrong("Id", expected: "the identifier of a file")
        }
        self.id = id
        name = record.filledText("Name") ?? id.string
        category = FileCategory(record.filledText("FileCategory") ?? "")
        dateAdded = record.filledText("DateAdded")
        fileExtension = record.filledText("Ext")
        type = record.filledText("FileType")
        subtype = record.filledText("FileSubType")
        personaName = record.filledText("FriendlyDesc1")
        personaDescription = record.filledText("FriendlyDesc2")
        population = record.filledText("Population")
        sex = record.filledText("Sex").map(Sex.init)
        members = record.members
    }

    /// Whether this is one of the service's sample files.
    public var isSample: Bool { category == .community }

    /// The display name (dossier 4.4). It is `persona - description` for a sample, otherwise the file's name.
    ///
    /// A sample that lacks one of the two shows the other; one that lacks both shows the file's name.
    public var displayName: String {
        let persona = isSample ? [personaName, personaDescription].compactMap(\.self) : []
        return persona.isEmpty ? name : persona.joined(separator: " - ")
    }

    /// All members of the answer as texts. They are sorted by name case-insensitively; null is nil.
    public var details: [(name: String, value: String?)] {
        members.map { name, value in
            switch value {
            case .null: (name, nil)
            case .string(let text): (name, text)
            default: (name, value.json)
            }
        }
        .sorted { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }
    }

    public static func == (one: GeneticFile, other: GeneticFile) -> Bool {
        one.id == other.id && one.members == other.members
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension String {
    /// Whether all its Unicode scalars are white space: a blank with a combining mark is text, as in the web component.
    package var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }
}

extension Members {
    /// A text that is not blank.
    fileprivate func filledText(_ name: String) -> String? {
        lenientText(name).flatMap { $0.isBlank ? nil : $0 }
    }

    /// A file's identifier: a text, or an integer in any JSON spelling.
    fileprivate func identifier(_ name: String) -> FileID? {
        switch self[name] {
        case .string(let text): FileID(text)
        case .number(let spelling): self[name]?.integer.map { FileID("\($0)") } ?? Self.digits(spelling)
        default: nil
        }
    }

    /// An integer beyond 64 bits.
    private static func digits(_ spelling: String) -> FileID? {
        spelling.utf8.allSatisfy { (0x30...0x39).contains($0) } ? FileID(spelling) : nil
    }
}
