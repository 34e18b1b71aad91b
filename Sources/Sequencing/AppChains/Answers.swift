import OAuth

/// The answer of a yes-or-no chain (dossier 5.8). Words are compared whole and case-insensitively.
public enum YesOrNo: Sendable, Hashable {
    case yes, no
    /// The file lacks the data that the chain needs: `Insufficient Data`, `NoData`.
    case insufficientData
    /// The chain failed: `Error`.
    case error
    /// An unknown answer; never one of the other cases.
    case other(String)

    /// Parses the service's word.
    public init(_ word: String) {
        self =
            switch word.lowercased() {
            case "yes": .yes
            case "no": .no
            case "insufficient data", "nodata": .insufficientData
            case "error": .error
            default: .other(word)
            }
    }
}

/// The risk of melanoma (dossier 5.8, `Chain9`).
public enum MelanomaRisk: Sendable, Hashable {
    case low, normal, slightlyIncreased, moderate, high, veryHigh
    /// The file lacks the data that the chain needs.
    case noData
    /// An unknown answer; never one of the other cases.
    case other(String)

    /// Parses the service's word, whole and case-insensitively.
    public init(_ word: String) {
        self = Self.words.first { $0.word.lowercased() == word.lowercased() }?.risk ?? .other(word)
    }

    /// The service's word.
    public var word: String {
        if case .other(let word) = self { return word }
        return Self.words.first { $0.risk == self }?.word ?? ""
    }

    /// The six levels and `NoData`, in the service's order. They are numbered 1 to 7 in one of its apps.
    public static let known: [MelanomaRisk] = words.map(\.risk)

    private static let words: [(risk: MelanomaRisk, word: String)] = [
        (.low, "Low"), (.normal, "Normal"), (.slightlyIncreased, "SlightlyIncreased"), (.moderate, "Moderate"),
        (.high, "High"), (.veryHigh, "VeryHigh"), (.noData, "NoData"),
    ]
}

/// Whether the genes indicate a lack of vitamin D (dossier 5.8, `Chain88`).
public enum VitaminD: Sendable, Hashable {
    /// `Yes`: an issue.
    case issue
    /// Exactly `No`: no issue.
    case noIssue
    /// The file lacks the data that the chain needs.
    case insufficientData
    /// The chain failed.
    case error
    /// An unknown answer; never one of the other cases.
    case other(String)

    /// Parses the service's word, whole and case-insensitively.
    public init(_ word: String) {
        self =
            switch YesOrNo(word) {
            case .yes: .issue
            case .no: .noIssue
            case .insufficientData: .insufficientData
            case .error: .error
            case .other(let word): .other(word)
            }
    }

    /// The service's word.
    public var word: String {
        switch self {
        case .issue: "Yes"
        case .noIssue: "No"
        case .insufficientData: "Insufficient Data"
        case .error: "Error"
        case .other(let word): word
        }
    }
}

extension YesOrNo: CustomStringConvertible {
    /// The answer in words.
    public var description: String {
        switch self {
        case .yes: "Yes"
        case .no: "No"
        case .insufficientData: AnswerWords.insufficientData
        case .error: AnswerWords.error
        case .other(let word): quoted(word, limit: 200)
        }
    }
}

extension MelanomaRisk: CustomStringConvertible {
    /// The answer in words.
    public var description: String {
        switch self {
        case .slightlyIncreased: "Slightly increased"
        case .veryHigh: "Very high"
        case .noData: AnswerWords.insufficientData
        case .low, .normal, .moderate, .high: word
        case .other(let word): quoted(word, limit: 200)
        }
    }
}

extension VitaminD: CustomStringConvertible {
    /// The answer in words.
    public var description: String {
        switch self {
        case .issue: "Issue found"
        case .noIssue: "No issue found"
        case .insufficientData: AnswerWords.insufficientData
        case .error: AnswerWords.error
        case .other(let word): quoted(word, limit: 200)
        }
    }
}

/// What several chains say in the same words.
private enum AnswerWords {
    static let insufficientData = "Not enough data in this file"
    static let error = "The app chain failed"
}

extension AppCode {
    /// What the chain is about, in words: “Melanoma risk”. Nil for a chain that this kit does not know.
    public var title: String? {
        switch self {
        case AppCode(9): "Melanoma risk"
        case AppCode(88): "Vitamin D"
        default: nil
        }
    }
}

extension Report {
    /// The answer of a known chain in words, such as “Melanoma risk”, “Moderate”.
    ///
    /// - Returns: nil for another chain, and for a report without its answer.
    public func words(of chain: AppCode) -> (title: String, answer: String)? {
        guard let title = chain.title else { return nil }
        switch chain {
        case AppCode(9): return (try? AppChain<MelanomaRisk>.melanoma.answer(in: self)).map { (title, $0.description) }
        case AppCode(88): return (try? AppChain<VitaminD>.vitaminD.answer(in: self)).map { (title, $0.description) }
        default: return nil
        }
    }
}

extension AppChain where Answer == MelanomaRisk {
    /// The risk of melanoma: `Chain9`, property `RiskDescription`.
    public static var melanoma: AppChain { AppChain(9, property: "RiskDescription", answer: MelanomaRisk.init) }
}

extension AppChain where Answer == VitaminD {
    /// Vitamin D: `Chain88`, property `result`.
    public static var vitaminD: AppChain { AppChain(88, property: "result", answer: VitaminD.init) }
}

extension AppChain where Answer == YesOrNo {
    /// A chain that answers yes or no in one property, by default `result`.
    public static func yesOrNo(_ number: Int, property: String = "result") -> AppChain {
        AppChain(number, property: property, answer: YesOrNo.init)
    }
}
