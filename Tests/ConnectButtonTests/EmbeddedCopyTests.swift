import Crypto
import Foundation
import Testing

@testable import ConnectButton

@Suite("What the web component carries")
struct EmbeddedCopyTests {
    private static let source = Vectors.folder.appending(path: "../../Sources/ConnectButton/Web/connect-button.js")
        .standardizedFileURL
    private static let marks = ("// >>> embedded\n", "// <<< embedded\n")

    /// With `HANDSHAKE_WRITE_EMBEDDED=1` in the environment the copy is written first; the next build embeds it.
    @Test("the component's tokens and words are those of the Swift rendering")
    func copy() throws {
        var script = try String(contentsOf: Self.source, encoding: .utf8)
        let start = try #require(script.firstRange(of: Self.marks.0)).upperBound
        let end = try #require(script.firstRange(of: Self.marks.1)).lowerBound
        let wanted = try ConnectButtonScript.embedded()
        if ProcessInfo.processInfo.environment["HANDSHAKE_WRITE_EMBEDDED"] == "1" {
            script.replaceSubrange(start..<end, with: wanted)
            try Data(script.utf8).write(to: Self.source, options: .atomic)
        } else {
            #expect(String(script[start..<end]) == wanted)
        }
    }

    @Test("the package carries the component, minified")
    func carried() throws {
        let carried = String(decoding: ConnectButtonScript.javaScript, as: UTF8.self)
        let source = SHA256.hash(data: try Data(contentsOf: Self.source)).map { String(format: "%02x", $0) }.joined()
        #expect(
            carried.hasPrefix(
                "/* <connect-button>, minified. Source: Sources/ConnectButton/Web/connect-button.js, SHA-256 \(source) */\n"
            ),
            "run Scripts/minify-button, then build")
        #expect(carried.utf8.count < 100_000)
    }

    @Test("the component reads as it is documented: the reservation has the tokens' numbers")
    func reservation() throws {
        let script = try String(contentsOf: Self.source, encoding: .utf8)
        #expect(ConnectButtonScript.reservation.contains("calc(143.8 * max(1px, .0625rem))"))
        #expect(script.contains("block-size: calc(143.8 * max(1px, .0625rem))"))
        #expect(ConnectButtonScript.reservation.contains("calc(329 * max(1px, .0625rem))"))
    }

    @Test("the component asks for nothing elsewhere, evaluates no text, and stores one mark alone")
    func harmless() throws {
        let script = try String(contentsOf: Self.source, encoding: .utf8)
        for word in [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "new Function", "localStorage", "indexedDB",
            "cookie", "import(",
        ] {
            #expect(!script.contains(word), "\(word)")
        }
        // That the tab is on its way to the service (F036).
        let uses = script.ranges(of: "sessionStorage").count
        #expect(uses == 3 && script.ranges(of: /sessionStorage\.\w+Item\(AWAY\b/).count == uses)
    }
}
