import Foundation
import Testing

@testable import ConnectButton

/// The poses of SwiftUI's film strips. `Scripts/film-strips` draws them beside the browser's pictures and the dossier's values.
@Suite("The film strips")
struct FilmStripTests {
    private static let changes: [(String, ConnectButtonState, ConnectButtonState)] = [
        ("E", .init(.connect), .init(.email, email: "ada@example.com")),
        ("G", .init(.connect), .init(.verifying, progress: .indeterminate)),
        ("I", .init(.email, email: "ada@example.com"), .init(.verifying, progress: .indeterminate)),
        ("L", .init(.verifying, progress: .indeterminate), .init(.goingToService, progress: .indeterminate)),
        ("OP", .init(.connecting, progress: .indeterminate), .init(.connected)),
        ("Q", .init(.confirmDisconnect), .init(.disconnecting, progress: .indeterminate)),
        ("T", .init(.disconnected, progress: .fraction(1)), .init(.connect)),
    ]

    private static func scene(_ state: ConnectButtonState) -> Stage.Scene {
        Stage.Scene(state, face: ConnectButtonFace(state, in: .americanEnglish))
    }

    @Test("MO2: the poses of every strip can be drawn: they have finite values, and end at rest")
    func poses() throws {
        var strips: [String: [String: [String: Double]]] = [:]
        for (name, before, now) in Self.changes {
            var stage = Stage(Self.scene(before), at: 0)
            stage.settle(at: 60)
            stage.show(Self.scene(now), at: 60)
            for milliseconds in stride(from: 0, through: 1900, by: 20) {
                let pose = stage.pose(at: 60 + Double(milliseconds) / 1000)
                let values = Channel.allCases.map { ($0.rawValue, pose[$0]) }
                #expect(values.allSatisfy { $0.1.isFinite })
                strips[name, default: [:]][String(milliseconds)] = Dictionary(uniqueKeysWithValues: values)
            }
            stage.settle(at: 63)
            #expect(stage.pose(at: 63) == stage.pose(at: 100))
        }
        // For the script that draws them.
        guard let file = ProcessInfo.processInfo.environment["HANDSHAKE_FILM_STRIPS"] else { return }
        try JSONEncoder().encode(strips).write(to: URL(filePath: file), options: .atomic)
    }
}
