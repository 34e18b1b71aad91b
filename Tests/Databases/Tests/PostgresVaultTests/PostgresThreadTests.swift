import Dispatch
import Foundation
import TestFixtures
import Testing

@testable import PostgresVault

/// On the runtime's own threads, of which there are as many as processors.
@Suite("Connecting to PostgreSQL", .heavy)
struct PostgresThreadTests {
    @Test("connections that wait for a server hold no thread of Swift's concurrency: more of them wait than it has")
    func waiting() async throws {
        let count = ProcessInfo.processInfo.activeProcessorCount + 4
        let (greeted, met, all) = (Shared(0), Shared(0), DispatchSemaphore(value: 0))
        let server = try RawServer(isRaw: true) { _ in
            let number = greeted.change { number in
                number += 1
                return number
            }
            if number == count { for _ in 0..<count { all.signal() } }
            // No connection gets an answer before all of them wait for one.
            if all.wait(timeout: .now() + 20) == .success { met.change { $0 += 1 } }
            return [.close]
        }
        defer { server.stop() }
        let address = try PostgresConnectionTests.address(of: server)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask { _ = try? await PostgresConnection.open(address, timeout: .seconds(60)) }
            }
        }
        #expect(met.value == count)
    }
}
