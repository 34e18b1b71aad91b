import Dispatch
import Foundation

/// A new folder of our own, closed to others.
struct TemporaryFolder {
    let path: String

    init(in parent: String) throws {
        let parent = parent.isEmpty ? NSTemporaryDirectory() : parent
        var template = Array((URL(filePath: parent).path() + "/handshake-benchmark-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure("no folder can be made in \(parent)") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    func remove() {
        do { try FileManager.default.removeItem(atPath: path) } catch { note("\(path) could not be removed: \(error)") }
    }
}

/// Ends the process when a benchmark hangs, so that none runs without bound.
struct Watchdog {
    private let work: DispatchWorkItem

    init(seconds: Double, over name: String) {
        work = DispatchWorkItem {
            note("\(name) was given up after \(seconds) s")
            exit(2)
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: work)
    }

    func cancel() {
        work.cancel()
    }
}
