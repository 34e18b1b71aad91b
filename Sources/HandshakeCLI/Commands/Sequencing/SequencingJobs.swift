#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import OAuth
import Sequencing

struct SequencingJobs: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs", abstract: "List app chains that were started here and have not ended.",
        discussion: """
            They continue at Sequencing.com. Show their reports with: handshake sequencing resume

            A job that does not end stays in the list: --forget removes it.
            """)

    @Option(
        name: .customLong("forget"),
        help: ArgumentHelp("Remove a job that will not end from the list.", valueName: "job"),
        transform: SequencingResume.job)
    var forgotten: JobID?

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var options: SequencingOptions

    func run() async throws {
        if let forgotten { return try await forget(forgotten) }
        let jobs = try await options.use { try await UnfinishedJobs(of: $0.account, in: $1).all }
        if options.common.json {
            return Output.result(JSONText.object([("jobs", .array(jobs.map(Self.json)))]).text)
        }
        guard !jobs.isEmpty else { return Output.note("No unfinished app chains.") }
        let rows = jobs.map { job in
            [
                "\(job.id)", job.chain?.shown ?? "", job.file?.string ?? "",
                Moment.text(job.started.timeIntervalSince1970),
            ]
        }
        for line in Table.lines([["JOB", "CHAIN", "FILE", "STARTED"]] + rows) { Output.result(line) }
    }

    private func forget(_ job: JobID) async throws {
        guard try await options.use({ try await UnfinishedJobs(of: $0.account, in: $1).forget(job) }) else {
            throw CommandError.usage("Job \(job) is not in the list. Show the list with: \(options.command("jobs"))")
        }
        if options.common.json {
            return Output.result(JSONText.object([("forgotten", .integer(job.number))]).text)
        }
        Output.note("Job \(job) is no longer in the list.")
    }

    private static func json(_ job: UnfinishedJob) -> JSONText {
        .object([
            ("job", .integer(job.id.number)), ("chain", .optional(job.chain?.string)),
            ("file", .optional(job.file?.string)), ("started_at", .seconds(job.started.timeIntervalSince1970)),
        ])
    }
}

struct SequencingResume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Wait for app chains that were started before and print their reports.",
        discussion: """
            Without a job, all that `handshake sequencing jobs` lists. The exit status is 4 when one of them has no report; the other reports \
            are printed. When all fail with the same error, the status is that error's. If the wait fails, it prints the reports that have \
            arrived and ends with that failure's status.

            A job that will not end is removed from the list with: handshake sequencing jobs --forget JOB
            """)

    @Argument(help: "The jobs, as `jobs` or an error printed them.", transform: Self.job)
    var jobs: [JobID] = []

    @OptionGroup var reports: SequencingReportOptions

    func run() async throws {
        try await reports.show { _, known in
            let wanted = jobs.isEmpty ? known.map(\.id) : jobs
            guard !wanted.isEmpty else {
                throw CommandError.usage(
                    "No unfinished app chains. Start one with: \(reports.options.command("chain CHAIN"))")
            }
            var named: Set<JobID> = []
            return .resume(wanted.filter { named.insert($0).inserted })
        }
    }

    static func job(_ text: String) throws -> JobID {
        guard let number = Int64(text), number > 0 else {
            throw ValidationError("“\(quoted(text, limit: 80))” is not the number of a job, for example 800125.")
        }
        return JobID(number)
    }
}
#endif
