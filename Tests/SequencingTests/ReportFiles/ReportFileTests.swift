import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import Sequencing

@Suite("Report files", .heavy)
struct ReportFileTests {
    private let temporary: TemporaryFolder
    private var folder: String { temporary.path }
    private var names: [String] { temporary.names() }

    init() throws {
        temporary = try TemporaryFolder()
    }

    private let id = ReportFileID(55012)
    private let content = Array("%PDF-1.4 invented".utf8)

    private func service(_ replies: [ScriptedService.Reply]) -> ScriptedService {
        ScriptedService(["GET /v2/GetReportFile": replies])
    }

    @Test("E06: a report's file is fetched into memory by its id, at one path")
    func memory() async throws {
        let service = service([.bytes(content)])
        #expect(try await service.genome().contents(of: id) == content)
        #expect(service.lines == ["GET /v2/GetReportFile?id=55012"])
    }

    @Test("E06: it is saved under a path or, by its own name, into a folder, with progress")
    func saved() async throws {
        let genome = try await service([.bytes(content, headers: [.contentLength: "\(content.count)"])]).genome()
        let seen = Mutex<[TransferProgress]>([])
        let path = try await genome.save(
            ReportFile(id: id, job: JobID(800_123), fileExtension: "pdf"), intoFolder: folder,
            progress: { state in seen.withLock { $0.append(state) } })
        #expect(path == folder + "/report_800123.pdf")
        #expect(FileManager.default.contents(atPath: path).map(Array.init) == content)
        #expect(seen.withLock { $0 } == [TransferProgress(received: Int64(content.count), total: Int64(content.count))])
        #expect(names == ["report_800123.pdf"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("E06: two documents of one report are two files, and a report that names its only one twice has one")
    func severalDocuments() async throws {
        let document = property("Report", "55012", type: "Pdf")
        let data = property("Data", "7", type: "DataFile")
        for (properties, expected) in [
            (
                [document, property("Letter", "55013", type: "Pdf"), data],
                ["data_9_7.dat", "report_9_55012.pdf", "report_9_55013.pdf"]
            ), ([document, document], ["report_9.pdf"]), ([document, data], ["data_9_7.dat", "report_9.pdf"]),
        ] {
            let temporary = try TemporaryFolder()
            let service = service([.bytes(content)])
            service.script("POST /v2/StartApp", [.json(job(9, "Completed", properties.joined(separator: ",")))])
            let genome = try await service.genome()
            let report = try await genome.report(AppCode(90), on: try #require(FileID("910001")))
            for document in report.files {
                try await genome.save(document, intoFolder: temporary.path, replacing: true)
            }
            #expect(temporary.names().sorted() == expected)
        }
    }

    @Test(
        "never half a file under its name: a short one, a lost one and a refused one leave nothing",
        arguments: [(0, "connection_cut"), (1, "connection_cut"), (2, "service_error")])
    func nothingHalf(_ which: Int, _ code: String) async throws {
        let replies: [[ScriptedService.Reply]] = [
            [.bytes(content, headers: [.contentLength: "100000"])], [.lost], [.json("{}", status: 404)],
        ]
        let genome = try await service(replies[which]).genome()
        #expect(await sequencingError { try await genome.save(id, to: folder + "/a.pdf") }?.code == code)
        #expect(names.isEmpty)
    }

    @Test("a short file is not repeated once a piece has been handed over, a lost connection before is")
    func repetition() async throws {
        let short = service([.bytes(content, headers: [.contentLength: "100000"])])
        let genome = try await short.genome()
        #expect(await sequencingError { try await genome.contents(of: id) }?.code == "connection_cut")
        #expect(short.lines.count == 1)
        let lost = service([.lost, .bytes(content)])
        #expect(try await lost.genome().contents(of: id) == content)
        #expect(lost.lines.count == 2)
    }

    @Test("a file that is there is kept, unless it may be replaced")
    func replacing() async throws {
        let path = folder + "/a.pdf"
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        let service = service([.bytes(content)])
        let genome = try await service.genome()
        #expect(
            await sequencingError { try await genome.save(id, to: path) }
                == .disk(path: path, reason: "it already exists"))
        #expect(service.lines.isEmpty)
        try await genome.save(id, to: path, replacing: true)
        #expect(FileManager.default.contents(atPath: path).map(Array.init) == content)
        #expect(names == ["a.pdf"])
    }

    @Test("E06: a file is saved where the file system has no hard links, and replaces none there either")
    func noHardLinks() async throws {
        let (path, other) = (folder + "/a.pdf", folder + "/b.pdf")
        let partial = try PartialFile(for: path, replacing: false) { _, _ in EPERM }
        try partial.append(content)
        try await partial.complete()
        #expect(FileManager.default.contents(atPath: path).map(Array.init) == content)
        let late = try PartialFile(for: other, replacing: false) { _, _ in EPERM }
        try late.append(content)
        try Data("old".utf8).write(to: URL(fileURLWithPath: other))
        #expect(await sequencingError { try await late.complete() }?.code == "cannot_write")
        late.discard()
        #expect(FileManager.default.contents(atPath: other).map(Array.init) == Array("old".utf8))
        #expect(names.sorted() == ["a.pdf", "b.pdf"])
    }

    @Test("a folder that is not there is an error before anything is sent")
    func noFolder() async throws {
        let service = service([.bytes(content)])
        let genome = try await service.genome()
        #expect(await sequencingError { try await genome.save(id, to: folder + "/none/a.pdf") }?.code == "cannot_write")
        #expect(service.lines.isEmpty)
    }

    @Test("a longer file than its limit is an error")
    func tooLong() async throws {
        let town = try await Town()
        let genome = town.genome
        let limits = TransferLimits(maximumContentLength: 10, timeout: .seconds(20))
        let report = try await genome.report(AppCode(91), on: try #require(FileID("910001")))
        let file = try #require(report.files.first)
        #expect(
            await sequencingError { try await genome.contents(of: file.id, limits: limits) }?.code
                == "response_too_large")
        await town.sandbox.stop()
    }
}
