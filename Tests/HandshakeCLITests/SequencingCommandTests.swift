import Foundation
import Sandbox
import TestFixtures
import Testing

extension CommandTests {
    @Suite("handshake sequencing")
    struct SequencingCommandTests {
        private let command: Command
        private let sandbox: Sandbox

        init() async throws {
            command = try Command()
            sandbox = try await Sandbox.start()
        }

        /// Runs a test with a user who has signed in, and stops the sandbox.
        private func signedIn(_ options: String..., body: (FinishedCommand) async throws -> Void) async throws {
            let login = try command.start(
                [
                    "login", "sequencing", "--browser", "print", "--client-id", "my-genome-app",
                    "--base-url", sandbox.sequencing.origin,
                ] + options)
            let url = try #require(await login.line())
            let redirect = try #require(URLComponents(string: try await sandbox.approve(url)))
            let origin = "http://\(redirect.host ?? ""):\(redirect.port ?? 0)"
            let target = redirect.path + "?" + (redirect.percentEncodedQuery ?? "")
            #expect(try await WireClient(origin: origin).send("GET", target).status == 200)
            let done = await login.finish()
            #expect(done.ending == .status(0), "\(done)")
            sandbox.clearRequests()
            try await body(done)
            await sandbox.stop()
        }

        private func run(_ arguments: String...) async throws -> FinishedCommand {
            try await command.start(["sequencing"] + arguments).finish()
        }

        /// Runs a command whose time ends after a request for `path` has reached the sandbox.
        private func runIntoTimeout(
            _ arguments: String..., reaching path: String, input: String? = nil
        ) async throws -> FinishedCommand {
            try await command.runIntoTimeout(["sequencing"] + arguments, input: input) {
                sandbox.requests(.sequencing).count { $0.path == path }
            }
        }

        /// Runs a command that Ctrl-C ends as soon as a request for `path` has reached the sandbox.
        private func runInterrupted(_ arguments: String..., reaching path: String) async throws -> FinishedCommand {
            try await command.runInterrupted(["sequencing"] + arguments) {
                sandbox.requests(.sequencing).contains { $0.path == path }
            }
        }

        private func inject(_ rule: String) throws {
            sandbox.inject(try FaultRule(parsing: "sequencing \(rule)"))
        }

        /// The jobs that `jobs` lists.
        private func jobs() async throws -> [Int] {
            let listed = try await run("jobs", "--json").json["jobs"] as? [[String: Any]]
            return try #require(listed).compactMap { $0["job"] as? Int }
        }

        @Test("A15: a sign-in greets the user by name")
        func greeting() async throws {
            try await signedIn { done in
                #expect((done.stdout + done.stderr).contains("Signed in to Sequencing.com as ada."), "\(done)")
            }
        }

        @Test("A09: a session is restored in a second process, without a sign-in and without a refresh")
        func secondProcess() async throws {
            try await signedIn { _ in
                let done = try await run("files", "--sample", "--json")
                #expect((done.json["files"] as? [Any])?.count == 10, "\(done)")
                #expect(sandbox.requests(.sequencing).map(\.path) == ["/DataSourceList"])
            }
        }

        @Test("A14: a missing scope is named with the command that gets it")
        func missingScope() async throws {
            try await signedIn("--scope", "demo") { _ in
                let done = try await run("files", "--uploaded")
                #expect(done.ending == .status(4))
                #expect(
                    done.stderr == "handshake: The token lacks the scope “external”. Sign in again with: "
                        + "handshake login sequencing --scope demo --scope external\n")
            }
        }

        @Test("W27: what is wrong with an answer is told in words, and the names of the wire with --json alone")
        func malformedAnswer() async throws {
            try await signedIn { _ in
                try inject(#"/DataSourceList => body {"Files":[]}"#)
                let text = try await run("files")
                #expect(text.ending == .status(5) && text.stderr.contains("list of files cannot be read"), "\(text)")
                #expect(!text.stderr.contains("DataSourceList") && !text.stderr.contains("content should"), "\(text)")
                let json = try await run("files", "--json")
                #expect(json.error["detail"] as? String == "DataSourceList: content should be a list but is an object")
                sandbox.clearFaults()
                try inject("/DataSourceList => garbage")
                let page = try await run("files")
                #expect(page.ending == .status(5) && page.stderr.contains("Sequencing.com answered with "), "\(page)")
                #expect(!page.stderr.contains("byte"), "\(page)")
                let pageDetail = try #require(try await run("files", "--json").error["detail"] as? String)
                #expect(pageDetail.hasPrefix("DataSourceList: content should be JSON") && pageDetail.contains("byte"))
            }
        }

        @Test("E12: --save-files saves documents and files of data of a report")
        func savedFiles() async throws {
            try await signedIn { _ in
                let folder = command.folder + "/reports"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let done = try await run("chain", "90", "--file", "227001", "--save-files", folder)
                #expect(done.ending == .status(0), "\(done)")
                let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
                #expect(names.count == 2 && names[0].hasPrefix("data_") && names[1].hasSuffix(".pdf"), "\(names)")
                for name in names { #expect(done.stdout.contains("saved as “\(folder)/\(name)”")) }
            }
        }

        @Test("E12: where the time ends while files are saved, the report is printed, and no second run is advised")
        func unsavedFiles() async throws {
            try await signedIn { _ in
                try inject("/v2/GetReportFile => endless")
                let folder = command.folder + "/reports"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let done = try await runIntoTimeout(
                    "chain", "90", "--file", "227001", "--save-files", folder, reaching: "/v2/GetReportFile")
                #expect(done.ending == .status(6), "\(done)")
                #expect(done.stdout.contains("Save it with: handshake sequencing report-file "), "\(done)")
                #expect(done.stderr.contains("The app chains need not run again."), "\(done)")
                #expect(!done.stderr.contains("--timeout"), "\(done)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
            }
        }

        @Test("E06: saving a report's file has an hour, as the kit allows it")
        func hour() async throws {
            let done = try await run("report-file", "--help")
            // The words of a help are wrapped.
            let words = done.stdout.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains("(default: 3600)"), "\(done)")
            await sandbox.stop()
        }

        @Test("E19: Ctrl-C while a start is not answered says that the chain may run")
        func interruptedStart() async throws {
            try await signedIn { _ in
                try inject("/v2/StartApp => delay 600")
                let done = try await runInterrupted("chain", "902", "--file", "227001", reaching: "/v2/StartApp")
                #expect(done.ending == .status(130), "\(done)")
                #expect(done.stderr.contains("The app chain may still run"), "\(done)")
            }
        }

        @Test("E01: a chain or a job that is named twice is started and shown once")
        func namedTwice() async throws {
            try await signedIn { _ in
                let done = try await run("chains", "88", "Chain88", "--file", "227001")
                #expect(done.ending == .status(0) && done.stdout == "Vitamin D: Issue found\n", "\(done)")
                let starts = sandbox.requests(.sequencing).filter { $0.path.hasPrefix("/v2/StartApp") }
                #expect(starts.map(\.path) == ["/v2/StartApp"])
                let resumed = try await run("resume", "5", "5", "--json")
                #expect((resumed.json["chains"] as? [Any])?.count == 1, "\(resumed)")
            }
        }

        @Test("E19: Ctrl-C while several chains are started one by one names the one that was sent and may run")
        func interruptedUnsent() async throws {
            try await signedIn { _ in
                try inject("/v2/StartAppBatch => status 404")
                try inject("/v2/StartApp => delay 600")
                let done = try await runInterrupted("chains", "88", "902", "--file", "227001", reaching: "/v2/StartApp")
                #expect(done.ending == .status(130), "\(done)")
                #expect(
                    done.stderr.contains("Vitamin D (Chain88) may still run: the same command would start it "),
                    "\(done)")
            }
        }

        @Test(
            "E19: where one of several starts has no answer, the report of another is shown, and no second start is advised"
        )
        func lostSecondStart() async throws {
            try await signedIn { _ in
                try inject("/v2/StartAppBatch => status 404")
                try inject("/v2/StartApp => drop #2")
                let done = try await run("chains", "88", "902", "--file", "227001")
                #expect(done.ending == .status(4) && done.stdout == "Vitamin D: Issue found\n", "\(done)")
                #expect(done.stderr.contains("Chain902: "), "\(done)")
                #expect(done.stderr.contains("another start would run it a second time"), "\(done)")
                #expect(!done.stderr.lowercased().contains("try again"), "\(done)")
            }
        }

        @Test("E19: a start that is not answered names no command that starts the chain a second time")
        func unansweredStart() async throws {
            try await signedIn { _ in
                try inject("/v2/StartApp => delay 600")
                let done = try await runIntoTimeout("chain", "902", "--file", "227001", reaching: "/v2/StartApp")
                #expect(done.ending == .status(6), "\(done)")
                #expect(done.stderr.contains("would start it a second time"), "\(done)")
                #expect(done.stderr.hasSuffix("handshake sequencing jobs\n") && !done.stderr.contains("--timeout"))
            }
        }

        @Test("E19: a job whose polls are not answered is listed, and the error says how its report is shown")
        func unansweredPoll() async throws {
            try await signedIn { _ in
                try inject("/v2/GetAppResults => delay 600")
                let poll = "/v2/GetAppResults"
                let done = try await runIntoTimeout("chain", "902", "--file", "227001", reaching: poll)
                #expect(done.ending == .status(6), "\(done)")
                // A run whose time ended before its poll has left a job too.
                let left = try await jobs()
                let job = try #require(
                    left.first { done.stderr.hasSuffix("handshake sequencing resume \($0)\n") }, "\(done)")
                let again = try await runIntoTimeout("resume", "\(job)", reaching: poll)
                #expect(again.stderr.hasSuffix("handshake sequencing resume \(job)\n"), "\(again)")
                sandbox.clearFaults()
                let shown = try await run("resume", "\(job)")
                #expect(shown.stdout == "Chain902: No\n", "\(shown)")
                #expect(try await jobs() == left.filter { $0 != job })
            }
        }

        @Test("E19: the error of polls that fail names the job, and advises no second start")
        func failedPolls() async throws {
            try await signedIn { _ in
                try inject("/v2/GetAppResults => status 500")
                let done = try await run("chain", "902", "--file", "227001")
                #expect(done.ending == .status(4), "\(done)")
                let job = try #require(try await jobs().first)
                #expect(
                    done.stderr == "handshake: Sequencing.com is not working right now (status 500). "
                        + "Job \(job) continues at Sequencing.com. Show its report later with: "
                        + "handshake sequencing resume \(job)\n")
            }
        }

        @Test("E19: the error of polls that stay unreadable names the job, and advises no second start")
        func unreadPolls() async throws {
            try await signedIn { _ in
                try inject(#"/v2/GetAppResults => body "x""#)
                let done = try await run("chain", "902", "--file", "227001")
                #expect(done.ending == .status(5) && !done.stderr.contains("ry again"), "\(done)")
                let job = try #require(try await jobs().first)
                #expect(done.stderr.hasSuffix("handshake sequencing resume \(job)\n"), "\(done)")
            }
        }

        @Test("E19: where the session ends between two polls, a note names the job")
        func sessionEnds() async throws {
            try await signedIn { _ in
                try inject("/v2/GetAppResults => status 401")
                let done = try await run("chain", "902", "--file", "227001")
                #expect(done.ending == .status(3), "\(done)")
                let job = try #require(try await jobs().first)
                #expect(done.stderr.contains("handshake sequencing resume \(job)\n"), "\(done)")
            }
        }

        @Test(
            "E19: a start that failed at the service, or whose answer cannot be read, may run all the same",
            arguments: [("status 502", 4), (#"body "x""#, 5), ("drop", 6)] as [(String, Int32)])
        func failedStart(_ fault: String, _ status: Int32) async throws {
            try await signedIn { _ in
                try inject("/v2/StartApp => \(fault)")
                let done = try await run("chain", "902", "--file", "227001")
                #expect(done.ending == .status(status), "\(done)")
                #expect(done.stderr.contains("would start it a second time"), "\(done)")
                #expect(!done.stderr.contains("ry again"), "\(done)")
                #expect(done.stderr.hasSuffix("handshake sequencing jobs\n"), "\(done)")
            }
        }

        @Test(
            "E19: where polls of one chain fail, the report of another that has ended is printed before the error",
            arguments: [("status 500", 4, "service_error"), ("status 401", 3, "sign_in_required"), ("drop", 6, "")]
                as [(String, Int32, String)])
        func reportBeforeFailure(_ fault: String, _ status: Int32, _ code: String) async throws {
            try await signedIn { _ in
                try inject("/v2/GetAppResults => \(fault)")
                let arguments = ["chains", "88", "902", "--file", "227001"]
                // Both are asked for before the session may end.
                let isOnce = status == 3
                let done = try await command.start(["sequencing"] + arguments + (isOnce ? ["--json"] : [])).finish()
                #expect(done.ending == .status(status), "\(done)")
                let job = try #require(try await jobs().first)
                #expect(done.stderr.contains("handshake sequencing resume \(job)"), "\(done)")
                if !isOnce { #expect(done.stdout == "Vitamin D: Issue found\n", "\(done)") }
                let json =
                    isOnce ? done : try await command.start(["sequencing"] + arguments + ["--json"]).finish()
                #expect(json.ending == .status(status), "\(json)")
                let chains = try #require(json.json["chains"] as? [[String: Any]], "\(json)")
                #expect(chains.map { $0["chain"] as? String } == ["Chain88", "Chain902"])
                #expect(chains.first?["succeeded"] as? Bool == true && chains.first?["properties"] != nil)
                let error = try #require(chains.last?["error"] as? [String: Any], "\(json)")
                #expect(error["code"] as? String == json.error["code"] as? String, "\(json)")
                if !code.isEmpty { #expect(error["code"] as? String == code, "\(json)") }
                #expect((error["message"] as? String)?.contains("ry again") == false, "\(json)")
            }
        }

        @Test("E19: Ctrl-C prints the reports of the chains that have ended")
        func reportBeforeInterruption() async throws {
            try await signedIn { _ in
                let done = try await runInterrupted(
                    "chains", "88", "906", "--file", "227001", reaching: "/v2/GetAppResults")
                #expect(done.ending == .status(130), "\(done)")
                #expect(done.stdout == "Vitamin D: Issue found\n", "\(done)")
                #expect(try await jobs().count == 1)
                let job = try #require(try await jobs().first)
                #expect(
                    done.stderr.contains(
                        "Chain906 (job \(job)) continues at Sequencing.com. Show its report later with: "
                            + "handshake sequencing resume \(job)\n"), "\(done)")
            }
        }

        @Test("E19: the list of jobs and the errors name a chain as its report does")
        func namedChain() async throws {
            try await signedIn { _ in
                try inject("/v2/GetAppResults => status 500")
                let done = try await run("chains", "88", "9", "--file", "227001")
                #expect(done.ending == .status(4) && done.stdout == "Vitamin D: Issue found\n", "\(done)")
                let job = try #require(try await jobs().first)
                let sentence = "Melanoma risk (Chain9, job \(job)) continues at Sequencing.com."
                #expect(done.stderr.contains(sentence), "\(done)")
                let list = try await run("jobs")
                #expect(list.stdout.contains("Melanoma risk (Chain9)"), "\(list)")
            }
        }

        @Test("E19: where several jobs fail, the last line counts them, and names none alone")
        func severalFail() async throws {
            try await signedIn { _ in
                let done = try await run("resume", "5", "7")
                #expect(done.ending == .status(4), "\(done)")
                let lines = done.stderr.split(separator: "\n")
                #expect(lines.count == 3 && lines[0].hasPrefix("Job 5: ") && lines[1].hasPrefix("Job 7: "), "\(done)")
                #expect(lines.last == "handshake: 2 of 2 chains have no report. The reasons are above.", "\(done)")
            }
        }

        @Test("E19: one poll that cannot be read costs neither the report nor the job")
        func unreadPoll() async throws {
            try await signedIn { _ in
                try inject("/v2/GetAppResults => garbage x1")
                let done = try await run("chain", "9", "--file", "227001")
                #expect(done.stdout == "Melanoma risk: High\n", "\(done)")
                #expect(try await jobs().isEmpty)
            }
        }

        @Test("E19: a job that will not end is removed from the list, and an unknown one is told")
        func forgottenJob() async throws {
            try await signedIn { _ in
                let given = try await runIntoTimeout(
                    "chain", "906", "--file", "227001", reaching: "/v2/GetAppResults")
                #expect(given.ending == .status(6), "\(given)")
                let left = try await jobs()
                let job = try #require(left.first)
                let unknown = try await run("jobs", "--forget", "\((left.max() ?? job) + 1)")
                #expect(unknown.ending == .status(64) && unknown.stderr.hasSuffix("handshake sequencing jobs\n"))
                #expect(try await jobs() == left)
                let forgotten = try await run("jobs", "--forget", "\(job)", "--json")
                #expect(forgotten.ending == .status(0) && forgotten.json["forgotten"] as? Int == job, "\(forgotten)")
                #expect(try await jobs() == left.filter { $0 != job })
                let missing = try await run("resume", "999999")
                #expect(missing.ending == .status(4))
                #expect(
                    missing.stderr == "handshake: Sequencing.com has no job 999999 for this account. "
                        + "List yours with: handshake sequencing jobs\n")
            }
        }

        @Test("E17: an unknown file is quoted, with the command that lists files")
        func unknownFile() async throws {
            try await signedIn { _ in
                for arguments in [["chain", "9", "--file", "zz"], ["file", "zz"]] {
                    let done = try await command.start(["sequencing"] + arguments).finish()
                    #expect(done.ending == .status(4))
                    #expect(
                        done.stderr == "handshake: The account has no file “zz”. "
                            + "List the files with: handshake sequencing files\n")
                }
            }
        }

        @Test("E05: a report without results says so; a file as JSON has the persona and what describes it")
        func emptyReport() async throws {
            try await signedIn { _ in
                let status = #"{"IdJob":7,"Status":"Completed","CompletedSuccesfully":true,"FinishDt":null}"#
                try inject(#"/v2/StartApp => body {"ResultProps":[],"Status":\#(status)}"#)
                let done = try await run("chain", "11", "--file", "227001")
                #expect(done.stdout == "Chain11: the report has no results\n", "\(done)")
                let file = try await run("file", "910001", "--json").json["file"] as? [String: Any]
                #expect(file?["persona"] as? String == "Ada")
                #expect(file?["description"] as? String == "Enjoys long walks and longer proofs")
            }
        }

        @Test("C07: an import whose answer is lost may run: the error waits for it, and advises no second try")
        func lostImport() async throws {
            try await signedIn { _ in
                try inject("/23andMe/Download => drop")
                let done = try await command.start(
                    ["sequencing", "import", "23andme"], input: "started\nsecret-word\n"
                ).finish()
                #expect(done.ending == .status(6), "\(done)")
                #expect(!done.stderr.lowercased().contains("try again"), "\(done)")
                #expect(done.stderr.hasSuffix("handshake sequencing import 23andme --resume\n"), "\(done)")
            }
        }

        @Test("C07: an import that is not answered may run: the error waits for it, and starts none")
        func unansweredImport() async throws {
            try await signedIn { _ in
                try inject("/23andMe/Download => delay 600")
                let done = try await runIntoTimeout(
                    "import", "23andme", reaching: "/23andMe/Download", input: "started\nsecret-word\n")
                #expect(done.ending == .status(6), "\(done)")
                #expect(done.stderr.contains("Do not start it again."), "\(done)")
                #expect(done.stderr.hasSuffix("handshake sequencing import 23andme --resume\n"), "\(done)")
            }
        }
    }
}
