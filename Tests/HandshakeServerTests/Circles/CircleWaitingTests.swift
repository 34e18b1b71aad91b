import Beacons
import Handshake
import TestFixtures
import Testing

@testable import HandshakeServer
@testable import Nearby

@Suite("A device that waits for the browser, to join a circle", .heavy)
struct CircleWaitingTests {
    @Test("a network that is away while the user signs in does not end the attempt to join")
    func network() async throws {
        try await CircleWorld.with { world in
            let device = CircleDevice(world)
            let joining = try await CircleJoining.begin(at: CircleWorld.address, in: device.environment)
            device.transport.fail(.timedOut(host: "circle.example"))
            let finished = Task { try await joining.finish() }
            while device.transport.sent.last?.hasSuffix("/token") != true { await Task.yield() }
            try await CircleBrowser(world).walk(
                joining.page, code: joining.code, as: "ada@example.test", answer: "yes")
            device.transport.fail(nil)
            #expect(try await finished.value.summary().number.value == 759)
            // After the ten minutes the reason is told.
            let late = CircleDevice(world)
            let second = try await CircleJoining.begin(at: CircleWorld.address, in: late.environment)
            late.transport.fail(.timedOut(host: "circle.example"))
            world.time.advance(by: 601)
            await #expect(throws: NearbyError.circle(.network(.timedOut(host: "circle.example")))) {
                try await second.finish()
            }
        }
    }
}
