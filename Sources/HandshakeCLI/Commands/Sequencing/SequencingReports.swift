#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import OAuth
import Sequencing

/// What the commands that wait for reports share.
struct SequencingReportOptions: ParsableArguments {
    @Option(help: .timeout)
    var timeout = 120

    @OptionGroup var options: SequencingOptions

    /// Follows a run, notes which of its jobs have not ended, and prints the reports.
    func show(_ run: (Sequencing, [UnfinishedJob]) async throws -> ChainRun) async throws {
        // Slightly shorter, so that the last error names the jobs that continue at the service.
        let polling = Polling(timeout: .seconds(timeout) - .milliseconds(500))
        let shown = try await options.use(polling: polling) { genome, jobs in
            let known = try await jobs.all
            let last = try await follow(try await run(genome, known), noting: jobs)
            return last.chains.map { state in
                ShownChain(chain: state.call?.chain ?? known.first { $0.id == state.job }?.chain, state: state)
            }
        }
        if options.common.json {
            Output.result(JSONText.object([("chains", .array(shown.map(\.json)))]).text)
        } else {
            for chain in shown { chain.show(alone: shown.count == 1) }
        }
        try fail(shown)
    }

    private func follow(_ run: ChainRun, noting jobs: UnfinishedJobs) async throws -> ChainProgress {
        let bar = ProgressLine()
        defer { bar.clear() }
        var last: ChainProgress?
        var canNote = true
        for try await step in run {
            do { if canNote { try await jobs.note(step) } } catch let error as SequencingError {
                // The reports are worth more than the list.
                Output.note("`handshake sequencing jobs` will not list this run: \(error)")
                canNote = false
            }
            bar.show(
                "\(step.endedCount) of \(step.chains.count) ended",
                done: Double(step.endedCount) / Double(step.chains.count))
            last = step
        }
        guard let last else { throw CancellationError() }
        return last
    }

    /// The chains without a report decide the exit status: if all have the same error, it is that one.
    private func fail(_ shown: [ShownChain]) throws {
        let errors = shown.compactMap(\.error)
        let open = errors.compactMap { if case .deadline(let job) = $0 { "\(job)" } else { nil } }
        let later = open.isEmpty ? "" : " \(resuming(open))"
        if let error = errors.first, errors.count == shown.count, Set(errors.map(\.code)).count == 1 {
            guard case .deadline = error else { throw SequencingFailure.commandError(error) }
            let subject = open.count == 1 ? "The app chain has" : "\(open.count) app chains have"
            throw CommandError(status: .network, code: error.code, message: "\(subject) not ended yet.\(later)")
        }
        guard errors.isEmpty else {
            throw CommandError(
                status: .serviceError, code: "chains_failed",
                message: "\(errors.count) of \(shown.count) chains have no report. The reasons are above.\(later)")
        }
    }

    private func resuming(_ jobs: [String]) -> String {
        let account = options.account == "sequencing" ? "" : " --account \(options.account)"
        let subject =
            jobs.count == 1
            ? "It continues at Sequencing.com. Show its report" : "They continue at Sequencing.com. Show their reports"
        return "\(subject) later with: handshake sequencing resume \(jobs.joined(separator: " "))\(account)"
    }
}

/// A chain as it is printed.
private struct ShownChain {
    /// The chain; nil for a job that was started elsewhere.
    let chain: AppCode?
    let state: ChainState

    private var name: String { chain?.string ?? state.job.map { "Job \($0)" } ?? "" }

    /// Why there is no answer; nil when there is one.
    var error: SequencingError? {
        switch state.result {
        case .failure(let error): error
        case .success(let report): report.succeeded ? nil : .unsuccessful(report)
        case nil: nil
        }
    }

    /// - Parameter alone: whether it is the only chain, whose failure is the command's.
    func show(alone: Bool) {
        switch state.result {
        case .success(let report):
            Output.result("\(name)\(report.succeeded ? "" : ": no result for this file")")
            let rows = report.properties.map { ["  " + Self.words(of: $0.name), $0.value.text] }
            for line in Table.lines(rows) { Output.result(line) }
        case .failure(let error): if !alone { Output.note("\(name): \(error)") }
        case nil: break
        }
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
                ("succeeded", .bool(report.succeeded)), ("properties", .array(report.properties.map(Self.json))),
            ]
        case .failure(let error):
            members.append(
                ("error", .object([("code", .string(error.code)), ("message", .string(error.description))])))
        case nil: break
        }
        return .object(members)
    }

    private static func json(_ property: ReportProperty) -> JSONText {
        .object([
            ("name", .string(property.name)), ("type", .string(property.value.type)),
            ("value", .string(property.value.text)),
            ("title", .optional(property.title)), ("subtitle", .optional(property.subtitle)),
            ("description", .optional(property.description)), ("subtype", .optional(property.subtype)),
        ])
    }
}
#endif
