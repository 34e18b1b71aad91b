import Foundation
import OAuth
import Sequencing

/// One line of a file's details: a label, and what the service states (D17).
///
/// Members that have no label come last, under the service's own names.
struct FileFact: Hashable, Sendable {
    private let words: FileSelectorWords?
    private let name: String
    private let content: String?
    private let meaning: Meaning

    private enum Meaning: Hashable {
        case text, date
        case words(FileSelectorWords)
    }

    private init(
        _ words: FileSelectorWords?, _ content: String?, name: String = "", meaning: Meaning = .text
    ) {
        self.words = words
        self.name = name
        self.content = content
        self.meaning = meaning
    }

    /// The members that have a label, in their order.
    private static let labels: [(name: String, words: FileSelectorWords)] = [
        ("Name", .fieldName), ("FriendlyDesc1", .fieldPerson), ("FriendlyDesc2", .fieldDescription),
        ("FileType", .fieldType), ("FileSubType", .fieldSubtype), ("Ext", .fieldExtension),
        ("DateAdded", .fieldAdded), ("FileCategory", .fieldCategory), ("Population", .fieldPopulation),
        ("Sex", .fieldSex), ("Id", .fieldId),
    ]

    /// All details of a file: labelled ones in their order, also those without a value; then the others by name.
    static func all(of file: GeneticFile) -> [FileFact] {
        func text(_ name: String) -> String? { file.members[name].flatMap(\.factText) }
        var facts: [FileFact] = []
        for (name, words) in labels {
            switch words {
            case .fieldPerson, .fieldDescription:
                if file.isSample || text(name) != nil { facts.append(FileFact(words, text(name))) }
            case .fieldAdded: facts.append(FileFact(words, file.dateAdded, meaning: .date))
            case .fieldCategory: facts.append(category(of: file))
            case .fieldSex: facts.append(sex(of: file))
            case .fieldId: facts.append(FileFact(words, file.id.string))
            default: facts.append(FileFact(words, text(name)))
            }
        }
        let others = file.details.filter { detail in !labels.contains { $0.name == detail.name } }
        return facts + others.map { FileFact(nil, text($0.name), name: $0.name) }
    }

    fileprivate static func category(of file: GeneticFile) -> FileFact {
        switch file.category {
        case .other(let word): FileFact(.fieldCategory, word.isEmpty ? nil : word)
        case .community: FileFact(.fieldCategory, "", meaning: .words(.categorySample))
        default:
            FileFact(
                .fieldCategory, "",
                meaning: .words(FileSelectorState.Segment.holding(file).first?.words ?? .other))
        }
    }

    private static func sex(of file: GeneticFile) -> FileFact {
        switch file.sex {
        case .female: FileFact(.fieldSex, "", meaning: .words(.sexFemale))
        case .male: FileFact(.fieldSex, "", meaning: .words(.sexMale))
        case .other(let word): FileFact(.fieldSex, word)
        case nil: FileFact(.fieldSex, nil)
        }
    }

    /// The label.
    func label(in locale: FileSelectorLocale) -> String {
        words?.text(in: locale) ?? name
    }

    /// What the service states; nil when it states nothing.
    func value(in locale: FileSelectorLocale) -> String? {
        switch meaning {
        case .words(let words): words.text(in: locale)
        case .date: content.map { FileDate($0).text(in: locale, style: .long) }
        case .text: content
        }
    }
}

extension GeneticFile {
    /// All details of the file in English: a label and what the service states.
    package var englishDetails: [(label: String, value: String)] {
        FileFact.all(of: self).map { fact in
            let nothing = FileSelectorWords.noValue.text(in: .american)
            return (fact.label(in: .american), fact.value(in: .american) ?? nothing)
        }
    }

    /// The category, in English, as in the details.
    package var englishCategory: String { FileFact.category(of: self).value(in: .american) ?? "" }

    /// When the file was added, in English, as in its details.
    package var englishDateAdded: String? {
        dateAdded.map { FileDate($0).text(in: .american, style: .long) }
    }
}

/// When a file was added, in the service's notation: ISO 8601, usually without a time zone (dossier 4.1).
struct FileDate: Sendable, Hashable {
    private let text: String
    private let date: Date?
    private let hasTime: Bool

    init(_ text: String) {
        self.text = text
        let form = /(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?:(:\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?/.asciiOnlyDigits()
        guard let (_, day, time, seconds, zone) = text.wholeMatch(of: form)?.output else {
            (date, hasTime) = (nil, false)
            return
        }
        let parser = DateFormatter()
        parser.locale = Locale(identifier: "en_US_POSIX")
        parser.dateFormat = "yyyy-MM-dd HH:mm:ss\(zone == nil ? "" : "ZZZZZ")"
        date = parser.date(from: "\(day) \(time ?? "00:00")\(seconds ?? ":00")\(zone ?? "")")
        hasTime = time != nil
    }

    /// The date as people write it; an unknown notation stays as it is.
    func text(in locale: FileSelectorLocale, style: DateFormatter.Style) -> String {
        guard let date else { return text }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: locale.tag)
        formatter.dateStyle = style
        formatter.timeStyle = style == .long && hasTime ? .short : .none
        return formatter.string(from: date)
    }
}

#if canImport(Darwin)
extension FileDate {
    /// How long ago something was: “5 minutes ago”.
    static func ago(_ seconds: Double, in locale: FileSelectorLocale) -> String {
        let formatter = RelativeDateTimeFormatter()
        formatter.locale = Locale(identifier: locale.tag)
        formatter.dateTimeStyle = .numeric
        return formatter.localizedString(fromTimeInterval: -max(1, seconds))
    }
}
#endif

extension JSONValue {
    /// The value as a text; nil for null and for a blank text.
    fileprivate var factText: String? {
        switch self {
        case .null: nil
        case .string(let text): text.isBlank ? nil : text
        default: json
        }
    }
}
