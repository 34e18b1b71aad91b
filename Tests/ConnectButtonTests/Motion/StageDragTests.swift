import Testing

@testable import ConnectButton

@Suite("A knob under a finger")
struct StageDragTests {
    private static func scene(_ step: ConnectButtonState.Step) -> Stage.Scene {
        let look = ConnectButtonLook(step)
        return Stage.Scene(step: step, label: look.input == .email || look.input == .choice ? "" : step.rawValue)
    }

    private static let width = 329.0
    private static let way = 259.0

    /// A knob that a finger has gripped at the pill's edge.
    private func grabbed(_ step: ConnectButtonState.Step, towards next: ConnectButtonState.Step) -> Stage {
        var stage = Stage(Self.scene(step), at: 0)
        _ = stage.touch()
        let isOn = ConnectButtonLook(step).isOn
        stage.grab(
            KnobDrag(isOn ? .off : .on, way: Self.way, grip: isOn ? Self.width : 0), towards: next,
            label: next == .email ? "" : next.rawValue)
        return stage
    }

    /// Where the finger is at a part of the way.
    private func place(_ part: Double, from step: ConnectButtonState.Step) -> Double {
        ConnectButtonLook(step).isOn ? Self.width - part * Self.way : part * Self.way
    }

    /// Lifts the finger at a part of the way, with a speed in widths per second, positive forward.
    private func lift(
        _ stage: inout Stage, at part: Double, from step: ConnectButtonState.Step, speed: Double = 0
    ) -> ConnectButtonEvent? {
        let velocity = (ConnectButtonLook(step).isOn ? -speed : speed) * Self.width
        return stage.lift(at: place(part, from: step), velocity: velocity, width: Self.width, time: 5)
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
        let drag = KnobDrag(vector.isOn ? .off : .on, way: Self.way)
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

    @Test("F011: only a finger that moves sideways drags the knob, and its first movement decides")
    func sideways() {
        for (x, y) in [(10.0, 9.0), (-10, 3), (11, -4)] { #expect(KnobDrag.isSideways(x: x, y: y)) }
        for (x, y) in [(10.0, 10.0), (-3, -12), (2, 11), (0, 0)] { #expect(!KnobDrag.isSideways(x: x, y: y)) }
        var stage = Stage(Self.scene(.connect), at: 0)
        let before = stage.pose(at: 1)
        let first = [stage.touch(), stage.touch()]
        stage.follow(to: Self.way)
        #expect(first == [true, false] && stage.pose(at: 1) == before)
        let event = lift(&stage, at: 1, from: .connect)
        let next = stage.touch()
        #expect(event == nil && next, "the next finger has a first movement of its own")
    }

    @Test("F038, MO9: a finger that is lifted asks for what it dragged to, by its speed and place", arguments: ways)
    func lifted(_ step: ConnectButtonState.Step, _ next: ConnectButtonState.Step) {
        let event = step == .connect ? ConnectButtonEvent.turnOn : .turnOff
        for (part, speed, asks) in [(0.6, 0.0, true), (0.6, -0.09, true), (0.3, 0, false)] {
            var stage = grabbed(step, towards: next)
            stage.follow(to: place(part, from: step))
            #expect(abs(stage.pose(at: 5)[.leavingLabel] - (1 - part)) < 1e-9)
            let asked = lift(&stage, at: part, from: step, speed: speed)
            #expect(asked == (asks ? event : nil))
            #expect(stage.drag?.spring?.target == (asks ? 1 : 0))
            #expect(abs((stage.drag?.spring?.velocity ?? .nan) - speed * Self.width / Self.way) < 1e-9)
        }
    }

    @Test("MO9: a finger that the system takes away asks for nothing, and the knob goes back", arguments: ways)
    func cancelled(_ step: ConnectButtonState.Step, _ next: ConnectButtonState.Step) {
        let before = Stage(Self.scene(step), at: 0)
        for part in [0.2, 0.95, 1] {
            var stage = grabbed(step, towards: next)
            stage.follow(to: place(part, from: step))
            stage.cancelTouch(at: 5)
            #expect(!stage.isTouched)
            let asked = lift(&stage, at: part, from: step)
            stage.settle(at: stage.end)
            #expect(asked == nil && stage.pose(at: 9) == before.pose(at: 9) && stage.caption == before.caption)
        }
    }

    @Test("MO9: a gesture that ends after its finger was lifted takes nothing back")
    func cancelledAfterLift() {
        var stage = grabbed(.connect, towards: .email)
        let asked = lift(&stage, at: 0.7, from: .connect)
        stage.cancelTouch(at: 5)
        #expect(asked == .turnOn && stage.drag?.spring?.target == 1)
    }

    @Test("MO28: a drag that ended with its step asks for nothing")
    func ended() {
        var stage = grabbed(.connect, towards: .email)
        stage.follow(to: place(0.6, from: .connect))
        stage.show(Self.scene(.connected), at: 5)
        let shown = stage.pose(at: 5)
        stage.follow(to: place(0.9, from: .connect))
        #expect(stage.pose(at: 5) == shown)
        let asked = lift(&stage, at: 0.9, from: .connect)
        #expect(asked == nil)
    }

    @Test("MO28: a finger on a knob that moves by itself asks for nothing")
    func moving() {
        var stage = grabbed(.connected, towards: .disconnecting)
        let asked = lift(&stage, at: 0.7, from: .connected)
        _ = stage.touch()
        let again = lift(&stage, at: 0.9, from: .connected)
        #expect(asked == .turnOff && again == nil)
    }

    @Test("F038: the knob stays under a finger also where it is not seen, or its gesture would end")
    func kept() {
        var stage = grabbed(.connected, towards: .disconnecting)
        stage.follow(to: place(1, from: .connected))
        #expect(stage.pose(at: 5)[.knob] == 0 && stage.needsKnob(in: stage.pose(at: 5)))
        // A finger whose drag has ended is still there.
        stage.show(Self.scene(.verifying), at: 5)
        stage.settle(at: stage.end)
        #expect(stage.pose(at: 9)[.knob] == 0 && stage.needsKnob(in: stage.pose(at: 9)))
        _ = lift(&stage, at: 1, from: .connected)
        #expect(!stage.needsKnob(in: stage.pose(at: 9)))
        let other = Stage(Self.scene(.connect), at: 0)
        #expect(other.needsKnob(in: other.pose(at: 9)))
    }

    @Test("MO11: a knob that is gripped on its way back shows the same texts again")
    func grippedAgain() {
        var stage = grabbed(.connect, towards: .verifying)
        stage.scrub(to: 0.3)
        stage.release(completes: false, at: 5)
        stage.grab(KnobDrag(.on, way: Self.way), towards: .verifying, label: "verifying")
        #expect(stage.leaving?.text == "connect" && stage.caption.text == "verifying")
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
