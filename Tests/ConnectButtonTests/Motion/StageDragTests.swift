import Testing

@testable import ConnectButton

@Suite("A knob under a finger")
struct StageDragTests {
    private static func scene(_ step: ConnectButtonState.Step) -> Stage.Scene {
        let look = ConnectButtonLook(step)
        return Stage.Scene(step: step, label: look.input == .email || look.input == .choice ? "" : step.rawValue)
    }

    private func grabbed(_ step: ConnectButtonState.Step, towards next: ConnectButtonState.Step) -> Stage {
        var stage = Stage(Self.scene(step), at: 0)
        stage.grab(towards: next, label: next == .email ? "" : next.rawValue)
        return stage
    }

    private static let ways: [(ConnectButtonState.Step, ConnectButtonState.Step)] = [
        (.connect, .email), (.connect, .verifying), (.connected, .confirmDisconnect), (.connected, .disconnecting),
    ]

    @Test("MO7, MO8: all values are linear in the finger's way", arguments: ways)
    func linear(_ step: ConnectButtonState.Step, _ next: ConnectButtonState.Step) {
        var stage = grabbed(step, towards: next)
        for fraction in [0.1, 0.25, 0.5, 0.7, 0.9] {
            stage.scrub(to: fraction)
            let pose = stage.pose(at: 5)
            #expect(abs(pose[.knobPlace] - (step == .connect ? fraction : 1 - fraction)) < 1e-9)
            #expect(abs(pose[.leavingLabel] - (1 - fraction)) < 1e-9)
            #expect(abs(pose[.label] - max(0, fraction * 2 - 1)) < 1e-9)
            guard next == .email else { continue }
            #expect(abs(pose[.emailGround] - fraction) < 1e-9 && pose[.knob] == 1)
            #expect(abs(pose[.field] - max(0, (fraction - 0.7) / 0.3)) < 1e-9)
            #expect(abs(pose[.icon] - min(1, 1 - (fraction - 0.25) / 0.75)) < 1e-9)
        }
    }

    @Test("MO9: a release goes on or back by speed and place", arguments: try Vectors.read().releases)
    func decided(_ vector: Vectors.Release) {
        let drag = KnobDrag(vector.isOn ? .off : .on, way: 259)
        #expect(drag.completes(fraction: vector.fraction, velocity: vector.velocity) == vector.completes)
    }

    @Test("MO11: after a drag that was given up, every value is the one before it", arguments: ways)
    func givenUp(_ step: ConnectButtonState.Step, _ next: ConnectButtonState.Step) {
        let before = Stage(Self.scene(step), at: 0)
        var stage = grabbed(step, towards: next)
        stage.scrub(to: 0.6)
        stage.release(completes: false, velocity: -1, at: 5)
        #expect(stage.pose(at: 5)[.knobPlace] != before.pose(at: 5)[.knobPlace])
        stage.settle(at: stage.end)
        #expect(stage.pose(at: 9) == before.pose(at: 9))
        #expect(stage.caption == before.caption && stage.leaving == nil && stage.end <= 5.5)
    }

    @Test("MO10: an answer during the release lets it run out, without a jump", arguments: ways, [0.0, 0.1, 0.39, 2])
    func answered(_ way: (ConnectButtonState.Step, ConnectButtonState.Step), after seconds: Double) {
        var stage = grabbed(way.0, towards: way.1)
        stage.scrub(to: 0.5)
        stage.release(completes: true, velocity: 1, at: 5)
        let present = stage.pose(at: 5 + seconds)
        stage.show(Self.scene(way.1), at: 5 + seconds)
        let shown = stage.pose(at: 5 + seconds)
        for channel in [Channel.knobPlace, .disc, .confirm, .field, .emailGround, .label, .leavingLabel]
        where seconds < 0.4 {
            #expect(abs(shown[channel] - present[channel]) < 1e-9, "\(channel)")
        }
        var before = shown
        for time in stride(from: 5 + seconds, to: 7 + seconds, by: 1 / 60) {
            let pose = stage.pose(at: time)
            if pose[.knob] > 0 { #expect(abs(pose[.knobPlace] - before[.knobPlace]) < 0.12) }
            before = pose
        }
        stage.settle(at: stage.end)
        let rest = Stage(Self.scene(way.1), at: 0).pose(at: 9)
        for channel in Channel.allCases where channel != .knobPlace {
            #expect(stage.pose(at: 9)[channel] == rest[channel])
        }
    }

    @Test("a change that does not come takes the knob back")
    func notAnswered() {
        var stage = grabbed(.connect, towards: .verifying)
        stage.scrub(to: 0.8)
        stage.release(completes: true, at: 5)
        stage.settle(at: 5.4)
        #expect(stage.pose(at: 5.4)[.knobPlace] == 1 && stage.end > 5.4)
        stage.settle(at: stage.end)
        #expect(stage.pose(at: 9)[.knobPlace] == 0 && stage.caption.text == "connect")
    }

    @Test("another step than the one that the drag leads to starts from where the finger was")
    func otherStep() {
        var stage = grabbed(.connect, towards: .email)
        stage.scrub(to: 0.6)
        let present = stage.pose(at: 5)
        stage.show(Self.scene(.connected), at: 5)
        let next = stage.pose(at: 5)
        for channel in [Channel.knobPlace, .icon, .emailGround] {
            #expect(abs(next[channel] - present[channel]) < 1e-9)
        }
        stage.settle(at: stage.end)
        #expect(stage.pose(at: 9)[.knobPlace] == 1 && stage.caption.text == "connected")
    }

    @Test("details of the same step change nothing under a finger")
    func details() {
        var stage = grabbed(.connect, towards: .verifying)
        stage.scrub(to: 0.5)
        let present = stage.pose(at: 5)
        var same = Self.scene(.connect)
        same.label = "Connect again"
        stage.show(same, at: 5)
        #expect(stage.pose(at: 5) == present && stage.caption.text == "verifying")
        stage.release(completes: false, at: 5)
        stage.settle(at: stage.end)
        #expect(stage.caption.text == "Connect again")
    }
}
