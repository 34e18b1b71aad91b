import HTTPTypes
import Testing

@testable import OAuth

@Suite("Polling of the device grant")
struct DevicePollingTests {
    private func request() throws -> TokenRequest {
        TokenRequest(
            .deviceCode(Secret("GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS")), at: try Example.server(),
            clientID: Example.clientID, authentication: .none)
    }

    /// Reads an answer; the error's code, `tokens` or nothing.
    private func read(
        _ status: Int, _ content: String, _ fields: HTTPFields = [:], _ polling: inout DevicePolling
    ) throws -> String? {
        let request = try request()
        do {
            let tokens = try request.tokens(
                fromPoll: Example.response(status, content, fields: fields), polling: &polling, now: Example.now)
            return tokens.map { _ in "tokens" }
        } catch {
            return error.code
        }
    }

    private static func error(_ code: String) -> String { #"{"error":"\#(code)"}"# }

    @Test("the request is that of RFC 8628, section 3.4")
    func message() throws {
        let message = try request().message
        #expect(message.head.path == "/token")
        #expect(
            message.form == [
                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code",
                "device_code=GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS", "client_id=s6BhdRkqt3",
            ])
    }

    @Test("M101, J1: the answers of the check sum lead to polls at 5, 10, 20, 30, 50 and 70 s")
    func checkSum() throws {
        var polling = DevicePolling(interval: 5)
        var (time, polls) = (0.0, [Double]())
        func poll() {
            time += polling.wait
            polls.append(time)
        }
        poll()
        #expect(try read(400, Self.error("authorization_pending"), [:], &polling) == nil)
        poll()
        #expect(try read(400, Self.error("slow_down"), [:], &polling) == nil)
        poll()
        #expect(try read(400, Self.error("authorization_pending"), [:], &polling) == nil)
        poll()
        polling.note(.failed)
        poll()
        #expect(try read(400, #"{"error":"slow_down","interval":20}"#, [:], &polling) == nil)
        poll()
        #expect(
            try read(200, #"{"access_token":"2YotnFZFEjr1zCsicMWpAA","token_type":"Bearer"}"#, [:], &polling)
                == "tokens")
        #expect(polls == [5, 10, 20, 30, 50, 70])
    }

    @Test(
        "M102, J1: an interval that is absent or unusable is 5 s, and slow_down adds 5 s for good",
        arguments: [
            ("", 5), (#","interval":0"#, 5), (#","interval":-3"#, 5), (#","interval":null"#, 5),
            (#","interval":"soon""#, 5), (#","interval":1e999"#, 3600), (#","interval":7"#, 7),
            (#","interval":"7""#, 7), (#","interval":6.5"#, 7),
        ])
    func interval(_ member: String, _ first: Double) throws {
        let authorization = try DeviceExample.authorization(
            #"{"device_code":"d","user_code":"U","verification_uri":"https://server.example.com/d","expires_in":900\#(member)}"#
        )
        var polling = DevicePolling(interval: authorization.interval)
        var waits = [polling.wait]
        for code in ["slow_down", "slow_down", "authorization_pending"] {
            #expect(try read(400, Self.error(code), [:], &polling) == nil)
            waits.append(polling.wait)
        }
        let steps = [0, 5, 10, 10].map { min(first + $0, 3600) }
        #expect(waits == steps)
    }

    @Test("M103, J4: 429 without an OAuth error and 503 go on, slower; Retry-After lengthens one wait")
    func tooMany() throws {
        var polling = DevicePolling(interval: 5)
        #expect(try read(429, "<html>", [:], &polling) == nil)
        #expect(polling.wait == 10)
        #expect(try read(503, "", [.retryAfter: "42"], &polling) == nil)
        #expect(polling.wait == 42)
        #expect(polling.interval == 15)
        #expect(try read(400, Self.error("authorization_pending"), [.retryAfter: "20"], &polling) == nil)
        #expect(polling.wait == 20)
        #expect(try read(400, Self.error("authorization_pending"), [.retryAfter: "1"], &polling) == nil)
        #expect(polling.wait == 15)
        #expect(try read(429, "", [.retryAfter: "99999999999999999999"], &polling) == nil)
        #expect(polling.wait == 20)
        #expect(try read(429, "", [.retryAfter: "9999999999"], &polling) == nil)
        #expect(polling.wait == 3600)
    }

    @Test(
        "M104: the error's code decides, not the status",
        arguments: [
            (200, "authorization_pending", 5.0), (428, "authorization_pending", 5), (403, "slow_down", 10),
            (500, "authorization_pending", 5), (401, "slow_down", 10),
        ])
    func code(_ status: Int, _ code: String, _ wait: Double) throws {
        var polling = DevicePolling(interval: 5)
        #expect(try read(status, Self.error(code), [:], &polling) == nil)
        #expect(polling.wait == wait)
    }

    @Test(
        "M106: an answer that ends the grant ends the polling, whatever its status",
        arguments: [
            (400, "access_denied"), (403, "access_denied"), (429, "access_denied"), (503, "expired_token"),
            (400, "authorization_declined"), (400, "expired_token"), (400, "invalid_grant"), (200, "invalid_grant"),
            (401, "invalid_client"), (400, "anything_else"),
        ])
    func ends(_ status: Int, _ code: String) throws {
        var polling = DevicePolling(interval: 5)
        #expect(try read(status, Self.error(code), [:], &polling) == code)
    }

    @Test("M105, J2: without an answer the waits double up to 60 s, and the first answer restores the interval")
    func failures() throws {
        var polling = DevicePolling(interval: 5)
        var waits: [Double] = []
        for _ in 0..<6 {
            polling.note(.failed)
            waits.append(polling.wait)
        }
        #expect(waits == [10, 20, 40, 60, 60, 60])
        #expect(try read(502, "<html>", [:], &polling) == nil)
        #expect(polling.wait == 60)
        #expect(try read(400, Self.error("authorization_pending"), [:], &polling) == nil)
        #expect(polling.wait == 5)
        var slow = DevicePolling(interval: 90)
        slow.note(.failed)
        #expect(slow.wait == 90)
        for _ in 0..<10_000 { slow.note(.failed) }
        #expect(slow.wait == 90)
    }

    @Test(
        "no interval traps", arguments: [.nan, .infinity, -.infinity, 0, -1, 1e308, .leastNonzeroMagnitude] as [Double])
    func hostileIntervals(_ interval: Double) {
        var polling = DevicePolling(interval: interval)
        for outcome in [.failed, .slowDown(interval: interval), .pending] as [DevicePolling.Outcome] {
            polling.note(outcome, retryAfter: interval)
            #expect((0...3600).contains(polling.wait))
        }
    }
}
