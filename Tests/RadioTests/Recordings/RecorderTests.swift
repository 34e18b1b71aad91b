import Beacons
import Foundation
import Radio
import TestFixtures
import Testing

@Suite("Recording what a radio hears")
struct RecorderTests {
    private let folder: TemporaryFolder
    /// The file that the recorder makes.
    private var name: String { folder.path + "/recorded.jsonl" }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func radio(_ packets: [Advertisement]) -> RecordingReplay {
        RecordingReplay(.lines(Array(packets.map { RecordingCodec.line($0) + "\n" }.joined().utf8)), pace: .immediate)
    }

    private func packets() throws -> [Advertisement] {
        [
            try Packets.advertisement(Packets.iBeacon),
            try Packets.advertisement(Packets.eddystone, nil, rssi: nil, at: Air.now.advanced(by: .milliseconds(250))),
        ]
    }

    @Test("BE-23: what was recorded is replayed as it was heard")
    func roundTrip() async throws {
        let packets = try packets()
        var heard: [Advertisement] = []
        for try await packet in Recorder(radio(packets), to: name).scan().advertisements() { heard.append(packet) }
        #expect(heard == packets)
        var replayed: [Advertisement] = []
        for try await packet in RecordingReplay(.file(name), pace: .immediate).scan().advertisements() {
            replayed.append(packet)
        }
        #expect(replayed == packets)
    }

    @Test("only its owner can read a recording")
    func permissions() async throws {
        for try await _ in Recorder(radio(try packets()), to: name).scan() {}
        let attributes = try FileManager.default.attributesOfItem(atPath: name)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("a file that is there already is not touched")
    func existing() async throws {
        try Data("old".utf8).write(to: URL(filePath: name))
        let error = await #expect(throws: RadioError.self) {
            for try await _ in Recorder(self.radio(try self.packets()), to: self.name).scan() {}
        }
        #expect(error == .file(name: name, reason: "File exists"))
        #expect(try String(contentsOfFile: name, encoding: .utf8) == "old")
    }

    @Test("a link is not followed: it may lead to another file")
    func link() async throws {
        try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: folder.path + "/other.jsonl")
        await #expect(throws: RadioError.file(name: name, reason: "File exists")) {
            for try await _ in Recorder(self.radio(try self.packets()), to: self.name).scan() {}
        }
    }

    @Test("nothing is created before a scan starts")
    func lazy() throws {
        let scan = Recorder(radio(try packets()), to: name).scan()
        _ = scan
        #expect(!FileManager.default.fileExists(atPath: name))
    }
}
