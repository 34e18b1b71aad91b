#if CommandLine
import Handshake
import OAuth
import Sequencing

/// A chain as it is printed.
struct ShownChain {
    /// For the commands that the user is shown.
    let options: SequencingOptions
    /// The chain; nil for a job that was started elsewhere.
    let chain: AppCode?
    let state: ChainState
    /// Where files of the report were saved.
    var saved: [ReportFileID: String] = [:]
    /// What ended the wait for a chain that had not ended.
    var failed: SequencingError?

    private var name: String { chain?.shown ?? state.job.map { "Job \($0)" } ?? "" }

    /// Why there is no answer; nil when there is one.
    var error: SequencingError? {
        switch state.result {
        case .failure(let error): error
        case .success(let report): report.succeeded ? nil : .unsuccessful(report)
        case nil: nil
        }
    }

    /// Whether the start was sent, and its answer does not say whether a job runs.
    var isUncertain: Bool {
        guard state.job == nil else { return false }
        switch error {
        case .malformed: return true
        case .service(let status, _, _): return status >= 500
        case .account(.network(let problem)): return problem.mayHaveArrived
        default: return false
        }
    }

    /// The job, if it may still run after the wait for it has ended.
    var openJob: JobID? {
        switch error {
        case .deadline(let job): job
        case .malformed: state.job
        default: nil
        }
    }

    /// Why there is no report. It advises no second start of a chain that may run.
    func message(_ error: SequencingError) -> String {
        if isUncertain {
            return "\(options.reason(error)) The app chain may still run: "
                + "another start would run it a second time."
        }
        guard failed == nil else { return options.reason(error) }
        guard case .malformed = error else { return options.message(error) }
        return "\(options.reason(error)) If it happens again, report it to Sequencing.com."
    }

    /// - Parameter alone: whether it is the only chain, whose failure is the command's.
    func show(alone: Bool) {
        switch state.result {
        case .success(let report): for line in lines(of: report) { Output.result(line) }
        case .failure(let error): if !alone { Output.error("\(name): \(message(error))") }
        case nil: break
        }
    }

    /// A report in words: “Melanoma risk: Moderate”. A chain that the kit does not know has its properties' names.
    func lines(of report: Report) -> [String] {
        guard report.succeeded else { return ["\(name): no result for this file"] }
        let known = chain.flatMap { report.words(of: $0) }
        let answers = known.map { ["\($0.title): \($0.answer)"] } ?? []
        let answered = chain.flatMap(\.answerProperty)
        let others = report.properties.filter { known == nil || $0.name != answered }
        guard known != nil || !others.isEmpty else { return ["\(name): the report has no results"] }
        guard known == nil else { return answers + others.map { "  \(line(of: $0))" } }
        if others.count == 1, let only = others.first { return ["\(name): \(value(of: only))"] }
        return [name] + others.map { "  \(line(of: $0))" }
    }

    private func line(of property: ReportProperty) -> String {
        "\(quoted(property.title ?? Self.words(of: property.name), limit: 200)): \(value(of: property))"
    }

    private func value(of property: ReportProperty) -> String {
        switch property.value {
        case .pdf(let file): fileText("a document", file)
        case .dataFile(let file): fileText("a file of data", file)
        case .plainText(let text): quoted(text, limit: 4096)
        default: quoted(property.value.text, limit: 4096)
        }
    }

    private func fileText(_ what: String, _ file: ReportFile) -> String {
        if let path = saved[file.id] { return "\(what), saved as “\(quoted(path, limit: 4096))”" }
        return "\(what). Save it with: \(options.command("report-file \(file.id) --output \(file.suggestedName)"))"
    }

    /// A property's name as words: “Risk description” for `RiskDescription`.
    private static func words(of name: String) -> String {
        var words = ""
        for character in name {
            let begins = character.isUppercase && words.last?.isLowercase == true
            words +=
                (begins ? " " : "")
                + (words.isEmpty ? character.uppercased() : begins ? character.lowercased() : String(character))
        }
        return words
    }

    var json: JSONText {
        var members: [(String, JSONText)] = [
            ("chain", .optional(chain?.string)), ("job", state.job.map { .integer($0.number) } ?? .null),
        ]
        switch state.result {
        case .success(let report):
            members += [
                ("succeeded", .bool(report.succeeded)), ("properties", .array(report.properties.map(json))),
            ]
        case .failure(let error): members.append(("error", json(error)))
        case nil: if let failed { members.append(("error", json(failed))) }
        }
        return .object(members)
    }

    private func json(_ error: SequencingError) -> JSONText {
        .object([("code", .string(error.code)), ("message", .string(message(error)))])
    }

    private func json(_ property: ReportProperty) -> JSONText {
        var members: [(String, JSONText)] = [
            ("name", .string(property.name)), ("type", .string(property.value.type)),
            ("value", .string(property.value.text)),
            ("title", .optional(property.title)), ("subtitle", .optional(property.subtitle)),
            ("description", .optional(property.description)), ("subtype", .optional(property.subtype)),
        ]
        switch property.value {
        case .pdf(let file), .dataFile(let file):
            if let path = saved[file.id] { members.append(("path", .string(path))) }
        default: break
        }
        return .object(members)
    }
}

extension AppCode {
    /// As people are told of the chain: “Melanoma risk (Chain9)”, or its code alone.
    var shown: String { title.map { "\($0) (\(string))" } ?? string }

    /// The property in which a chain that the kit knows has its answer (Sequencing dossier 5.8).
    fileprivate var answerProperty: String? {
        switch self {
        case AppCode(9): "RiskDescription"
        case AppCode(88): "result"
        default: nil
        }
    }
}
#endif
