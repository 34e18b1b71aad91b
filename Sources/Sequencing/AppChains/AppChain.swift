/// An app chain, and how its report is read.
///
/// An app declares its own in a few lines:
///
/// ```swift
/// enum Caffeine: Equatable {
///     case fast, slow
///     case other(String)
/// }
///
/// extension AppChain where Answer == Caffeine {
///     static var caffeine: AppChain {
///         AppChain(11, property: "result") { word in
///             switch word.lowercased() {
///             case "yes": .fast
///             case "no": .slow
///             default: .other(word)
///             }
///         }
///     }
/// }
/// ```
public struct AppChain<Answer: Sendable>: Sendable {
    /// The chain's code on the wire.
    public let code: AppCode
    private let read: @Sendable (Report) throws(SequencingError) -> Answer

    /// Declares a chain by its code and a function that reads its report. The function gets only reports of successful jobs.
    public init(code: AppCode, reading read: @escaping @Sendable (Report) throws(SequencingError) -> Answer) {
        self.code = code
        self.read = read
    }

    /// Declares a chain that answers in one text property. `answer` receives the text unchanged.
    ///
    /// A report without such a text throws ``SequencingError/answerMissing(chain:property:)``.
    public init(_ number: Int, property: String, answer: @escaping @Sendable (String) -> Answer) {
        let code = AppCode(number)
        self.init(code: code) { report throws(SequencingError) in
            guard let text = report.text(property) else {
                throw .answerMissing(chain: code, property: property)
            }
            return answer(text)
        }
    }

    /// The answer of a report.
    ///
    /// - Throws: ``SequencingError/unsuccessful(_:)`` for a job that failed, and what the reading
    ///   function throws.
    public func answer(in report: Report) throws(SequencingError) -> Answer {
        guard report.succeeded else { throw .unsuccessful(report) }
        return try read(report)
    }
}
