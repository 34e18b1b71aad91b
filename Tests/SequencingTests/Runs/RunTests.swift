import Handshake
import MessageFixtures
import OAuth
import Sequencing
import Synchronization
import TestFixtures
import Testing

/// Passes requests on, but lets each poll take the time that it may.
private struct HangingPolls: Transport {
    let service: ScriptedService
    let clock: HurriedClock

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        guard request.line.contains("/GetAppResults") else { return try await service.send(request, limits: limits) }
        clock.advance(by: limits.timeout)
        throw TransportError.timedOut(host: "api.sequencing.com")
    }
}

/// Passes requests on, but holds one start of a chain until its task is cancelled.
private struct HeldStart: Transport {
    let service: ScriptedService
    /// How many starts pass before it.
    var passing = 1
    let asked: AsyncStream<Void>.Continuation

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        let start = "POST /v2/StartApp"
        guard request.line == start, service.lines.count(where: { $0 == start }) == passing else {
            return try await service.send(request, limits: limits)
        }
        let (never, held) = AsyncStream<Void>.makeStream()
        asked.yield()
        for await _ in never {}
        held.finish()
        throw CancellationError()
    }
}

@Suite("Runs")
struct RunTests {
    private let file: FileID

    init() throws {
        file = try #require(FileID("910001"))
    }

    private func entry(_ key: String, _ job: String) -> String {
        #"{"Key":"\#(key)","Value":\#(job)}"#
    }

    @Test(
        "E03, E04: the transcript of the dossier: two chains in one request, one complete immediately, one polled by its number"
    )
    func transcript() async throws {
        let service = ScriptedService([
            "POST /v2/StartAppBatch": [
                .json(
                    "[" + entry("Chain88", job(800_300, "Completed", property("result", "Yes"))) + ",\n "
                        + entry("Chain9", job(800_301, "Pending")) + "]")
            ],
            "GET /v2/GetAppResults?idJob=800301": [
                .json(job(800_301, "Completed", property("RiskDescription", "Moderate")))
            ],
        ])
        let (vitaminD, risk) = try await service.genome().answers(.vitaminD, .melanoma, on: file)
        #expect(try vitaminD.get() == .issue)
        #expect(try risk.get() == .moderate)
        #expect(
            service.requests.first?.content
                == #"{"Pars":[{"AppCode":"Chain88","Pars":[{"Name":"dataSourceId","Value":"910001"}]},"#
                + #"{"AppCode":"Chain9","Pars":[{"Name":"dataSourceId","Value":"910001"}]}]}"#)
        #expect(service.lines == ["POST /v2/StartAppBatch", "GET /v2/GetAppResults?idJob=800301"])
    }

    @Test("E02: a result that the service has is not polled for")
    func immediate() async throws {
        let service = ScriptedService(["POST /v2/StartApp": [.json(job(1, "Completed", property("result", "No")))]])
        #expect(try await service.genome().answer(.vitaminD, on: file) == .noIssue)
        #expect(service.lines == ["POST /v2/StartApp"])
    }

    @Test("E19: every step tells where each chain stands, and the last one is complete")
    func steps() async throws {
        let service = ScriptedService([
            "POST /v2/StartAppBatch": [
                .json("[" + entry("Chain9", job(1, "Pending")) + "," + entry("Chain88", job(2, "Pending")) + "]")
            ],
            "POST /v2/GetAppResultsBatch": [
                .json("[\(job(2, "Running")),\(job(1, "Completed", property("RiskDescription", "Low")))]")
            ],
            "GET /v2/GetAppResults": [.json(job(2, "Executing")), .json(job(2, "Cancelled"))],
        ])
        var counts: [Int] = []
        var last: ChainProgress?
        for try await step in try await service.genome().run(.melanoma, .vitaminD, on: file) {
            counts.append(step.endedCount)
            if !step.isComplete { #expect(step.chains.contains { $0.job == JobID(2) && $0.result == nil }) }
            last = step
        }
        #expect(counts == [0, 1, 1, 2])
        #expect(try last?[.melanoma]?.get() == .low)
        #expect(throws: SequencingError.cancelled(JobID(2))) { try last?[.vitaminD]?.get() }
        #expect(service.requests[1].content == #"{"JobIds":[1,2]}"#)
        #expect(last?.polls == 3)
    }

    @Test("W26: a failed, a cancelled and an unsuccessful chain hide no other")
    func perChain() async throws {
        let calls = [1, 2, 3, 4].map { ChainCall(AppCode($0), on: file) }
        let jobs = [
            job(1, "Failed"), job(2, "Cancelled"), job(3, "Completed", succeeded: "false"),
            job(4, "Completed", property("result", "Yes")),
        ]
        let entries = jobs.enumerated().map { entry("Chain\($0 + 1)", $1) }.joined(separator: ",")
        let last = try await ScriptedService(["POST /v2/StartAppBatch": [.json("[\(entries)]")]]).genome().run(calls)
            .complete()
        #expect(throws: SequencingError.failed(JobID(1))) { try last[.yesOrNo(1)]?.get() }
        #expect(throws: SequencingError.cancelled(JobID(2))) { try last[.yesOrNo(2)]?.get() }
        #expect(await sequencingError { try last[.yesOrNo(3)]?.get() }?.code == "job_unsuccessful")
        #expect(try last.chains[2].result?.get().succeeded == false)
        #expect(try last[.yesOrNo(4)]?.get() == .yes)
        #expect(last[.yesOrNo(5)] == nil)
    }

    @Test("the same chain on two files makes two results")
    func twoFiles() async throws {
        let other = try #require(FileID("910002"))
        let calls = [ChainCall(AppCode(88), on: file), ChainCall(AppCode(88), on: other)]
        let answer =
            "[" + entry("Chain88", job(1, "Completed", property("result", "Yes"))) + ","
            + entry("Chain88", job(2, "Completed", property("result", "No"))) + "]"
        let last = try await ScriptedService(["POST /v2/StartAppBatch": [.json(answer)]]).genome().run(calls).complete()
        #expect(try last[.vitaminD, on: file]?.get() == .issue)
        #expect(try last[.vitaminD, on: other]?.get() == .noIssue)
    }

    @Test("an answer in another order is joined by its keys, and a chain that it leaves out has an error of its own")
    func order() async throws {
        let calls = [9, 88, 11].map { ChainCall(AppCode($0), on: file) }
        let answer =
            "[" + entry("chain88", job(2, "Completed", property("result", "No"))) + ","
            + entry("Chain9", job(1, "Failed")) + "]"
        let last = try await ScriptedService(["POST /v2/StartAppBatch": [.json(answer)]]).genome().run(calls).complete()
        #expect(last.chains.map(\.job) == [JobID(1), JobID(2), nil])
        #expect(try last[.vitaminD]?.get() == .noIssue)
        #expect(await sequencingError { try last[.yesOrNo(11)]?.get() }?.code == "malformed_answer")
    }

    @Test(
        "5.12: a batch that is empty, no list, or without keys is an error for its chains, not a success",
        arguments: [
            "[]", "{}", "[{}]", #"[{"Key":"Chain9"}]"#, #"[{"Value":{}}]"#, "<html>",
        ])
    func badBatch(_ answer: String) async throws {
        let calls = [9, 88].map { ChainCall(AppCode($0), on: file) }
        let last = try await ScriptedService(["POST /v2/StartAppBatch": [.json(answer)]]).genome().run(calls).complete()
        for state in last.chains {
            #expect(await sequencingError { try state.result?.get() }?.code == "malformed_answer")
        }
        #expect(last.isComplete)
    }

    @Test("E17: a batch refused for one unknown chain is started one by one, so that the others answer")
    func refusedBatch() async throws {
        let unknown = #"{"Message":"Invalid AppCode","Error":"chain_not_found"}"#
        let service = ScriptedService([
            "POST /v2/StartAppBatch": [.json(unknown, status: 404)],
            "POST /v2/StartApp": [.json(unknown, status: 404), .json(job(2, "Completed", property("result", "No")))],
        ])
        let last = try await service.genome().run([7, 88].map { ChainCall(AppCode($0), on: file) }).complete()
        #expect(throws: SequencingError.unknownChain(AppCode(7))) { try last[.yesOrNo(7)]?.get() }
        #expect(try last[.vitaminD]?.get() == .noIssue)
    }

    @Test("E19: a job that has started is not lost when a later start of the same run has no answer")
    func lostSecondStart() async throws {
        let service = ScriptedService([
            "POST /v2/StartAppBatch": [.json("{}", status: 404)],
            "POST /v2/StartApp": [
                .json(job(1, "Pending")), .lost, .json(job(3, "Completed", property("result", "No"))),
            ],
            "GET /v2/GetAppResults?idJob=1": [.json(job(1, "Completed", property("result", "No")))],
        ])
        let last = try await service.genome().run([88, 9, 11].map { ChainCall(AppCode($0), on: file) }).complete()
        #expect(try last[.vitaminD]?.get() == .noIssue)
        #expect(await sequencingError { try last.chains[1].result?.get() }?.code == "connection_cut")
        // What was not sent yet is no lost start.
        #expect(last.chains[2].job == JobID(3))
        #expect(service.lines.count { $0 == "POST /v2/StartApp" } == 3)
        let alone = ScriptedService([
            "POST /v2/StartAppBatch": [.json("{}", status: 404)], "POST /v2/StartApp": [.lost],
        ])
        let calls = [88, 9].map { ChainCall(AppCode($0), on: file) }
        #expect(await sequencingError { try await alone.genome().run(calls).complete() }?.code == "connection_cut")
    }

    @Test("E19: a run that is cancelled between two starts tells the number of the job that has started")
    func cancelledSecondStart() async throws {
        let service = ScriptedService([
            "POST /v2/StartAppBatch": [.json("{}", status: 404)], "POST /v2/StartApp": [.json(job(1, "Pending"))],
        ])
        let (asked, signal) = AsyncStream<Void>.makeStream()
        let transport = HeldStart(service: service, asked: signal)
        let genome = try await service.genome(clock: ContinuousClock(), through: transport)
        let run = genome.run([88, 9].map { ChainCall(AppCode($0), on: file) })
        let task = Task { () async throws -> [[JobID?]] in
            var jobs: [[JobID?]] = []
            do { for try await step in run { jobs.append(step.chains.map(\.job)) } } catch is CancellationError {}
            return jobs
        }
        for await _ in asked { break }
        task.cancel()
        #expect(try await task.value == [[JobID(1), nil]])
    }

    @Test(
        "E19: of several chains that are started one by one, a cancelled run names those whose start was sent",
        arguments: [0, 1])
    func cancelledUnsent(passing: Int) async throws {
        let service = ScriptedService([
            "POST /v2/StartAppBatch": [.json("{}", status: 404)], "POST /v2/StartApp": [.json(job(1, "Pending"))],
        ])
        let (asked, signal) = AsyncStream<Void>.makeStream()
        let transport = HeldStart(service: service, passing: passing, asked: signal)
        let genome = try await service.genome(clock: ContinuousClock(), through: transport)
        let calls = [88, 9, 11].map { ChainCall(AppCode($0), on: file) }
        // Its time is over when the starts are.
        let run = genome.run(calls, polling: Polling(timeout: .zero))
        let task = Task { () async throws -> [[Bool]] in
            var sent: [[Bool]] = []
            do { for try await step in run { sent.append(step.chains.map(\.isSent)) } } catch is CancellationError {}
            return sent
        }
        for await _ in asked { break }
        task.cancel()
        #expect(try await task.value == [passing == 0 ? [true, false, false] : [true, true, false]])
        #expect(service.lines.count { $0 == "POST /v2/StartApp" } == passing)
    }

    @Test(
        "9.4: a start is never sent twice after a failure that may have started something", arguments: [500, 502, 503])
    func noSecondStart(_ status: Int) async throws {
        let service = ScriptedService(["POST /v2/StartAppBatch": [.json("", status: status)]])
        let last = try await service.genome().run(.melanoma, .vitaminD, on: file).complete()
        #expect(service.lines == ["POST /v2/StartAppBatch"])
        #expect(throws: SequencingError.service(status: status, code: nil, message: nil)) { try last[.melanoma]?.get() }
    }

    @Test("9.4: the pauses rise from one second to five, and chance takes at most a fifth")
    func intervals() async throws {
        let service = ScriptedService([
            "POST /v2/StartApp": [.json(job(1, "Pending"))], "GET /v2/GetAppResults": [.json(job(1, "Running"))],
        ])
        for (chance, share) in [(0.0, 1.0), (1.0, 0.8)] {
            let clock = HurriedClock()
            let polling = Polling(timeout: .seconds(20), random: { chance })
            _ = try await service.genome(polling: polling, clock: clock).run(.vitaminD, on: file).complete()
            let expected = [1, 1.5, 2.25, 3.375, 5, 5].map { Duration.seconds($0 * share) }
            #expect(zip(clock.pauses, expected).prefix(5).allSatisfy { abs(($0 - $1) / .seconds(1)) < 1e-9 })
            #expect(clock.pauses.count >= 6 && clock.pauses.allSatisfy { $0 <= .seconds(5) })
        }
    }

    @Test("W23: at the deadline an open chain has an error that names its job, and the wait is over")
    func deadline() async throws {
        let clock = HurriedClock()
        let service = ScriptedService([
            "POST /v2/StartApp": [.json(job(5, "Pending"))], "GET /v2/GetAppResults": [.json(job(5, "Running"))],
        ])
        let genome = try await service.genome(clock: clock)
        let last = try await genome.run(.vitaminD, on: file).complete()
        #expect(throws: SequencingError.deadline(JobID(5))) { try last[.vitaminD]?.get() }
        #expect(clock.pauses.reduce(.zero, +) == .seconds(120))
        let again = try await genome.run(.vitaminD, on: file).complete()
        #expect(throws: SequencingError.deadline(JobID(5))) { try again[.vitaminD]?.get() }
        #expect(clock.pauses.reduce(.zero, +) == .seconds(240), "each run counts its own time")
    }

    @Test("W23: polls that fail in passing are missed, and a failure that stays ends the run")
    func lostPolls() async throws {
        let start = [ScriptedService.Reply.json(job(5, "Pending"))]
        let passing = ScriptedService([
            "POST /v2/StartApp": start,
            "GET /v2/GetAppResults": [
                .json("", status: 500), .json("", status: 429), .json(job(5, "Completed", property("result", "No"))),
            ],
        ])
        #expect(try await passing.genome().answer(.vitaminD, on: file) == .noIssue)
        let staying = ScriptedService(["POST /v2/StartApp": start, "GET /v2/GetAppResults": [.json("", status: 500)]])
        #expect(
            await sequencingError { try await staying.genome().answer(.vitaminD, on: file) }
                == .service(status: 500, code: nil, message: nil))
    }

    @Test("E19: a poll that cannot be read is missed, up to three of them, and says nothing of the job")
    func unreadPolls() async throws {
        let done = ScriptedService.Reply.json(job(5, "Completed", property("result", "No")))
        let start = [ScriptedService.Reply.json(job(5, "Pending"))]
        for garbage in ["<html>", "", #"{"Status":"#, #"{"Status":{}}"#, job(6, "Running")] {
            let service = ScriptedService([
                "POST /v2/StartApp": start,
                "GET /v2/GetAppResults": [.json(garbage), .json(garbage), .json(garbage), done],
            ])
            #expect(try await service.genome().answer(.vitaminD, on: file) == .noIssue, "\(garbage)")
        }
        let staying = ScriptedService(["POST /v2/StartApp": start, "GET /v2/GetAppResults": [.json("<html>")]])
        let error = await sequencingError { try await staying.genome().answer(.vitaminD, on: file) }
        #expect(error?.code == "malformed_answer")
        #expect(staying.lines.count == 1 + 4)
    }

    @Test("E19, W26: a job whose polls stay unreadable hides no other")
    func unreadBesideOthers() async throws {
        let service = ScriptedService([
            "POST /v2/GetAppResultsBatch": [.json("<html>")],
            "GET /v2/GetAppResults?idJob=1": [.json("<html>")],
            "GET /v2/GetAppResults?idJob=2": [
                .json(job(2, "Running")), .json(job(2, "Completed", property("result", "No"))),
            ],
        ])
        let last = try await service.genome().resume([JobID(1), JobID(2)]).complete()
        #expect(await sequencingError { try last.chains[0].result?.get() }?.code == "malformed_answer")
        #expect(try last.chains[1].result?.get().text("result") == "No")
    }

    @Test("E19: a service that does not answer polls cannot hold a run beyond its time")
    func hangingPolls() async throws {
        let clock = HurriedClock()
        let service = ScriptedService(["POST /v2/StartApp": [.json(job(5, "Pending"))]])
        let polling = Polling(jitter: 0, timeout: .seconds(30), lastPoll: .seconds(2))
        let genome = try await service.genome(
            polling: polling, clock: clock, through: HangingPolls(service: service, clock: clock))
        let start = clock.now
        let last = try await genome.run(.vitaminD, on: file).complete()
        #expect(throws: SequencingError.deadline(JobID(5))) { try last[.vitaminD]?.get() }
        #expect(start.duration(to: clock.now) <= .seconds(32))
    }

    @Test("a job that the service no longer knows fails alone, in a batch too")
    func unknownJob() async throws {
        let service = ScriptedService([
            "POST /v2/GetAppResultsBatch": [.json("{}", status: 404)],
            "GET /v2/GetAppResults?idJob=1": [.json("{}", status: 404)],
            "GET /v2/GetAppResults?idJob=2": [.json(job(2, "Completed", property("result", "No")))],
        ])
        let last = try await service.genome().resume([JobID(1), JobID(2)]).complete()
        #expect(throws: SequencingError.unknownJob(JobID(1))) { try last.chains[0].result?.get() }
        #expect(try last.chains[1].result?.get().text("result") == "No")
    }

    @Test("a run is taken up again by the numbers of its jobs")
    func resume() async throws {
        let service = ScriptedService([
            "GET /v2/GetAppResults": [.json(job(9, "Running")), .json(job(9, "Completed", property("result", "Yes")))]
        ])
        let last = try await service.genome().resume([JobID(9)]).complete()
        #expect(try last.chains.first?.result.map { try AppChain.vitaminD.answer(in: try $0.get()) } == .issue)
        #expect(last.polls == 2)
    }

    @Test("W24: cancelling the task that iterates ends the run immediately")
    func cancellation() async throws {
        let service = ScriptedService(["POST /v2/StartApp": [.json(job(1, "Pending"))]])
        let polling = Polling(firstInterval: .seconds(3600), maximumInterval: .seconds(3600), timeout: .seconds(7200))
        let run = try await service.genome(polling: polling, clock: ContinuousClock()).run(.vitaminD, on: file)
        let (started, signal) = AsyncStream<Void>.makeStream()
        let task = Task {
            for try await _ in run { signal.yield() }
        }
        for await _ in started { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(service.lines == ["POST /v2/StartApp"])
    }

    @Test("200 chains in one batch are asked for with one request an interval")
    func manyChains() async throws {
        let entries = (1...200).map { entry("Chain\($0)", job($0, "Pending")) }.joined(separator: ",")
        let running = (1...200).map { job($0, "Running") }.joined(separator: ",")
        let done = (1...200).map { job($0, "Completed", property("result", "Yes")) }.joined(separator: ",")
        let clock = HurriedClock()
        let service = ScriptedService([
            "POST /v2/StartAppBatch": [.json("[\(entries)]")],
            "POST /v2/GetAppResultsBatch": [.json("[\(running)]"), .json("[\(running)]"), .json("[\(done)]")],
        ])
        let last = try await service.genome(clock: clock).run((1...200).map { ChainCall(AppCode($0), on: file) })
            .complete()
        #expect(last.endedCount == 200)
        #expect(service.lines.count == 4)
        #expect(clock.pauses.count == 3)
    }

    @Test("nothing is sent for no chains")
    func noChains() async throws {
        let service = ScriptedService()
        let last = try await service.genome().run([]).complete()
        #expect(last.isComplete)
        #expect(service.lines.isEmpty)
    }
}
