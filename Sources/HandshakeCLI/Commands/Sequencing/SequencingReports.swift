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

    @Option(
        name: .customLong("save-files"),
        help: ArgumentHelp("A folder to save the files of the reports in: documents and data.", valueName: "folder"))
    var folder: String?

    @OptionGroup var options: SequencingOptions

    /// Follows a run, notes which of its jobs have not ended, and prints the reports.
    func show(_ run: (Sequencing, [UnfinishedJob]) async throws -> ChainRun) async throws {
        // Slightly shorter, so that the last error names the jobs that continue at the service.
        let polling = Polling(timeout: .seconds(timeout) - .milliseconds(500))
        let (shown, problem) = try await options.use(polling: polling) { genome, vault in
            let jobs = UnfinishedJobs(of: genome.account, in: vault)
            let known = try await jobs.all
            let last = try await follow(try await run(genome, known), noting: jobs)
            var shown: [ShownChain] = []
            var problem: SequencingError?
            for state in last.chains {
                let chain = state.call?.chain ?? known.first { $0.id == state.job }?.chain
                let (saved, unsaved) = try await save(state, from: genome)
                problem = problem ?? unsaved
                shown.append(ShownChain(options: options, chain: chain, state: state, saved: saved))
            }
            return (shown, problem)
        }
        if options.common.json {
            Output.result(JSONText.object([("chains", .array(shown.map(\.json)))]).text)
        } else {
            for chain in shown { chain.show(alone: shown.count == 1) }
        }
        try fail(shown)
        if let problem { throw SequencingFailure.commandError(problem) }
    }

    /// Saves the files of a report, if the user named a folder.
    ///
    /// - Returns: where files were saved, and why others were not: the reports are printed all the same.
    private func save(
        _ state: ChainState, from genome: Sequencing
    ) async throws -> (saved: [ReportFileID: String], problem: SequencingError?) {
        guard let folder, case .success(let report)? = state.result else { return ([:], nil) }
        let bar = ProgressLine()
        defer { bar.clear() }
        var saved: [ReportFileID: String] = [:]
        var problem: SequencingError?
        let files = report.files
        let counts = Dictionary(files.map { ($0.suggestedName, 1) }, uniquingKeysWith: +)
        // A report may name a file twice.
        for file in files where saved[file.id] == nil {
            // Two documents of one report have one default name.
            let isRepeated = counts[file.suggestedName, default: 0] > 1
            let name = isRepeated ? "report_\(file.job)_\(file.id).\(file.fileExtension)" : file.suggestedName
            let path = Settings.absolute(folder) + "/" + name
            do {
                try await genome.save(file.id, to: path, replacing: false) { bar.show($0) }
                saved[file.id] = path
            } catch let error as SequencingError {
                problem = problem ?? error
            }
        }
        return (saved, problem)
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
        let subject =
            jobs.count == 1
            ? "It continues at Sequencing.com. Show its report" : "They continue at Sequencing.com. Show their reports"
        return "\(subject) later with: \(options.command("resume \(jobs.joined(separator: " "))"))"
    }
}
#endif
