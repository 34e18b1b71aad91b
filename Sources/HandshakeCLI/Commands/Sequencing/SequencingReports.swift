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

    /// What a command asks for.
    enum Request: Sendable {
        case start([ChainCall])
        case resume([JobID])
    }

    /// Follows a run, notes which of its jobs have not ended, and prints the reports.
    ///
    /// Has a deadline of its own: chains that may run are not started again.
    func show(_ request: @escaping @Sendable (Sequencing, [UnfinishedJob]) async throws -> Request) async throws {
        try CommandDeadline.check(timeout)
        let watch = RunWatch(timeout)
        try await CommandDeadline.run(timeout) {
            expired(watch)
        } _: {
            try await show(request, watch)
        }
    }

    private func show(
        _ request: (Sequencing, [UnfinishedJob]) async throws -> Request, _ watch: RunWatch
    ) async throws {
        let (shown, problem) = try await options.use { genome, vault in
            let jobs = UnfinishedJobs(of: genome.account, in: vault)
            let known = try await jobs.all
            var (last, failure) = try await follow(request(genome, known), of: genome, noting: jobs, watch)
            var shown: [ShownChain] = []
            var problem: SequencingError?
            for state in last?.chains ?? [] {
                let chain = state.call?.chain ?? known.first { $0.id == state.job }?.chain
                var saved: [ReportFileID: String] = [:]
                // After a failure the service may not answer: the reports name the command that saves their files.
                if failure == nil {
                    do {
                        let (paths, unsaved) = try await save(state, from: genome)
                        saved = paths
                        problem = problem ?? unsaved
                    } catch {
                        failure = error
                    }
                }
                let failed = state.result == nil ? failure as? SequencingError : nil
                shown.append(ShownChain(options: options, chain: chain, state: state, saved: saved, failed: failed))
            }
            guard let failure else { return (shown, problem) }
            if shown.contains(where: { $0.state.result != nil }) { show(shown) }
            throw unanswered(failure, watch)
        }
        show(shown)
        try fail(shown)
        if let problem { throw options.commandError(problem) }
    }

    private func show(_ shown: [ShownChain]) {
        if options.common.json {
            return Output.result(JSONText.object([("chains", .array(shown.map(\.json)))]).text)
        }
        for chain in shown { chain.show(alone: shown.count == 1) }
    }

    /// Saves the files of a report, if the user named a folder.
    ///
    /// - Returns: where files were saved, and why others were not: the reports are printed anyway.
    private func save(
        _ state: ChainState, from genome: Sequencing
    ) async throws -> (saved: [ReportFileID: String], problem: SequencingError?) {
        guard let folder, case .success(let report)? = state.result else { return ([:], nil) }
        let bar = ProgressLine()
        defer { bar.clear() }
        var saved: [ReportFileID: String] = [:]
        var problem: SequencingError?
        // A report may name a file twice.
        for file in report.files where saved[file.id] == nil {
            let path = Settings.absolute(folder) + "/" + file.suggestedName
            do {
                try await genome.save(file.id, to: path, replacing: false) { bar.show($0) }
                saved[file.id] = path
            } catch let error as SequencingError {
                problem = problem ?? error
            }
        }
        return (saved, problem)
    }

    /// Follows a run to its end.
    ///
    /// - Returns: the last step, and what ended the run before all of its chains had ended: reports that came before are printed.
    private func follow(
        _ request: Request, of genome: Sequencing, noting jobs: UnfinishedJobs, _ watch: RunWatch
    ) async -> (last: ChainProgress?, failure: (any Error)?) {
        let bar = ProgressLine()
        defer { bar.clear() }
        var last: ChainProgress?
        var canNote = true
        let run: ChainRun
        switch request {
        case .start(let calls):
            watch.start(calls.count)
            run = genome.run(calls, polling: watch.polling)
        case .resume(let wanted):
            watch.follow(wanted.map { OpenJob(id: $0) })
            run = genome.resume(wanted, polling: watch.polling)
        }
        do {
            for try await step in run {
                last = step
                watch.follow(step)
                // In a task of its own: an interruption must not keep a job that has just started out of the list.
                let noting: Task<Void, any Error>? = canNote ? Task { try await jobs.note(step) } : nil
                do { try await noting?.value } catch let error as SequencingError {
                    // The reports are worth more than the list.
                    Output.note("`handshake sequencing jobs` will not list this run: \(error)")
                    canNote = false
                }
                bar.show(
                    "\(step.endedCount) of \(step.chains.count) ended",
                    done: Double(step.endedCount) / Double(step.chains.count))
            }
        } catch {
            return (last, error)
        }
        return (last, last == nil ? CancellationError() : nil)
    }

    /// The error of a run that ended without an answer: what may run, or goes on, and how its report is shown.
    private func unanswered(_ failure: any Error, _ watch: RunWatch) -> any Error {
        guard let error = failure as? SequencingError else {
            // An interruption has no message; the jobs continue all the same.
            let (open, unknown) = (watch.open, watch.unknownCount)
            if unknown > 0 { Output.note(mayRun(unknown, watch.unknown)) }
            if !open.isEmpty { Output.note(resuming(open)) }
            return failure
        }
        if let count = watch.startCount {
            guard case .account(.network(let problem)) = error, problem.mayHaveArrived else { return error }
            return CommandError(
                status: .network, code: error.code,
                message: "Sequencing.com's answer to the start was lost. \(mayRun(count))")
        }
        let open = watch.open
        guard !open.isEmpty else { return error }
        let message = "\(options.reason(error)) \(resuming(open))"
        switch error {
        case .account(.network), .account(.refreshUncertain):
            return CommandError(status: .network, code: error.code, message: message)
        case .account:
            Output.note(resuming(open))
            return error
        default: return SequencingFailure.commandError(error, message: message)
        }
    }

    /// The error of the deadline.
    private func expired(_ watch: RunWatch) -> CommandError {
        defer { watch.expire() }
        if let count = watch.startCount {
            return CommandError(
                status: .network, code: "timed_out",
                message: "Sequencing.com did not answer within \(timeout) s. \(mayRun(count))")
        }
        let open = watch.open
        guard !open.isEmpty else {
            guard watch.isFollowing, folder != nil else { return CommandDeadline.expired(timeout) }
            return CommandError(
                status: .network, code: "timed_out",
                message: "Not all files were saved within \(timeout) s. The app chains need not run again. "
                    + "Save a file with: \(options.command("report-file NUMBER --output PATH"))")
        }
        return CommandError(
            status: .network, code: "job_deadline",
            message: "The reports did not come within \(timeout) s. \(resuming(open))")
    }

    /// What a user must know of chains whose start was sent without a usable answer: the jobs' numbers are unknown.
    ///
    /// - Parameter chains: their names, where the command has others too; else none.
    private func mayRun(_ count: Int, _ chains: [AppCode] = []) -> String {
        let all = count == 1 ? "The app chain" : "The app chains"
        let subject = chains.isEmpty ? all : chains.map(\.shown).joined(separator: ", ")
        return """
            \(subject) may still run: the same command would start \
            \(count == 1 ? "it" : "them") a second time. \
            Jobs whose start was answered are listed by: \(options.command("jobs"))
            """
    }

    /// The chains without a report decide the exit status: if all have the same error, it is that one.
    private func fail(_ shown: [ShownChain]) throws {
        let failed = shown.filter { $0.error != nil }
        guard let first = failed.first, let error = first.error else { return }
        let open = failed.compactMap { one in
            one.openJob.map { OpenJob(id: $0, chain: shown.count == 1 ? nil : one.chain) }
        }
        let later = open.isEmpty ? "" : " \(resuming(open))"
        let several = "\(failed.count) of \(shown.count) chains have no report. The reasons are above.\(later)"
        guard failed.count == shown.count, Set(failed.compactMap { $0.error?.code }).count == 1 else {
            throw CommandError(status: .serviceError, code: "chains_failed", message: several)
        }
        let message: String
        if failed.allSatisfy(\.isUncertain) {
            message = "\(options.reason(error)) \(mayRun(failed.count))"
        } else if case .deadline = error {
            let subject = open.count == 1 ? "The app chain has" : "\(open.count) app chains have"
            message = "\(subject) not ended yet.\(later)"
        } else {
            message = failed.count == 1 ? first.message(error) + later : several
        }
        throw SequencingFailure.commandError(error, message: message)
    }

    /// How the reports of jobs that go on are shown.
    private func resuming(_ jobs: [OpenJob]) -> String {
        let subject =
            jobs.count == 1
            ? "\(jobs[0].name) continues at Sequencing.com. Show its report"
            : "\(jobs.count) jobs continue at Sequencing.com. Show their reports"
        let numbers = jobs.map { "\($0.id)" }.joined(separator: " ")
        return "\(subject) later with: \(options.command("resume \(numbers)"))"
    }
}
#endif
