/// A row of the list: what is shown of a file.
public struct FileRow: Sendable, Hashable, Identifiable {
    public let file: GeneticFile
    public let isSelected: Bool

    public var id: FileID { file.id }

    init(_ file: GeneticFile, isSelected: Bool) {
        self.file = file
        self.isSelected = isSelected
    }

    /// The first line: a sample's persona, else the file's name, else its identifier.
    public var title: String { file.rowTitle }

    /// The second line: a sample's description; nil for own files.
    public var subtitle: String? { file.isSample ? file.personaDescription : nil }

    /// What tells files of one name apart: kind of data, population, the day of addition, and last the identifier.
    public var facts: [String] { file.facts }
}

extension GeneticFile {
    /// What tells files of one name apart: kind of data, population, the day of addition, and last the identifier.
    public var facts: [String] {
        let kind = [type, subtype].compactMap(\.self).joined(separator: " ")
        let day = dateAdded.map { String($0.prefix { $0 != "T" && $0 != " " }) }
        return [kind.isEmpty ? nil : kind, population, day, id.string].compactMap(\.self)
    }

    /// The first line of the file's row.
    var rowTitle: String { (isSample ? personaName : nil) ?? name }
}

/// A choice to be kept across launches (dossier 4.5): store it, and give it to the next selector.
public struct RememberedChoice: Sendable, Hashable, Codable {
    public let id: FileID
    /// What the file was called, to be shown before there is a list.
    public let displayName: String

    public init(_ file: GeneticFile) {
        id = file.id
        displayName = file.displayName
    }
}
