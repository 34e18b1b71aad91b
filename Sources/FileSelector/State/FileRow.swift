import Foundation
public import Sequencing

/// A row of the list.
public struct FileRow: Sendable, Hashable, Identifiable {
    public let file: GeneticFile
    public let isSelected: Bool
    /// Whether another file has the same title: then the row shows the identifier, too.
    public let isTitleRepeated: Bool

    public var id: FileID { file.id }

    init(_ file: GeneticFile, isSelected: Bool, isTitleRepeated: Bool) {
        self.file = file
        self.isSelected = isSelected
        self.isTitleRepeated = isTitleRepeated
    }

    /// The first line. It is a sample's persona, otherwise the file's name, otherwise its identifier.
    public var title: String { file.rowTitle }

    /// The second line: a sample's description; nil for own files.
    public var subtitle: String? { file.isSample ? file.personaDescription : nil }

    /// The picture of a sample's persona; nil for own files.
    public var picture: PersonaPicture? { file.isSample ? PersonaPicture(of: file) : nil }

    /// The kind of data, such as `VCF Genome`; nil when the service states none.
    public var kind: String? {
        let kind = [file.type, file.subtype].compactMap(\.self).joined(separator: " ")
        return kind.isEmpty ? nil : kind
    }

    /// The third line: what distinguishes the file from its like, with an unknown category in the service's word.
    func facts(in locale: FileSelectorLocale) -> [String] {
        let category: String? = if case .other(let word) = file.category, !word.isEmpty { word } else { nil }
        let facts = [
            isTitleRepeated ? FileSelectorWords.identifier.text(in: locale, id.string) : nil,
            category, kind, file.population,
            file.dateAdded.map { FileDate($0).text(in: locale, style: .medium) },
        ]
        return facts.compactMap(\.self)
    }
}

extension GeneticFile {
    /// Details that distinguish files with the same name. They are kind of data, population, date of addition and
    /// identifier.
    public var facts: [String] {
        let kind = [type, subtype].compactMap(\.self).joined(separator: " ")
        let day = dateAdded.map { String($0.prefix { $0 != "T" && $0 != " " }) }
        return [kind.isEmpty ? nil : kind, population, day, id.string].compactMap(\.self)
    }

    /// The first line of the file's row.
    var rowTitle: String { (isSample ? personaName : nil) ?? name }
}

/// A choice that is stored across launches (dossier 4.5). It is given to the next selector.
public struct RememberedChoice: Sendable, Hashable, Codable {
    public let id: FileID
    /// The file's name, shown before the list is loaded.
    public let displayName: String

    public init(_ file: GeneticFile) {
        id = file.id
        displayName = file.displayName
    }
}
