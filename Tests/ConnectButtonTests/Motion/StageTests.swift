import Testing

@testable import ConnectButton

@Suite("The stage on which the button moves")
struct StageTests {
    private static func scene(_ step: ConnectButtonState.Step, _ label: String? = nil) -> Stage.Scene {
        let look = ConnectButtonLook(step)
        let words = look.input == .email || look.input == .choice ? "" : label ?? step.rawValue
        return Stage.Scene(step: step, label: words, bar: look.fill.map { .upTo($0) } ?? .none)
    }

    /// A stage at rest that then shows another step at the time 10.
    private func change(_ before: ConnectButtonState.Step, _ now: ConnectButtonState.Step) -> Stage {
        var stage = Stage(Self.scene(before), at: 0)
        stage.settle(at: 10)
        stage.show(Self.scene(now), at: 10)
        return stage
    }

    private static let frame = 1.0 / 60
    private static let steps = ConnectButtonState.Step.allCases

    @Test("MO3: what is shown first is complete in its first frame")
    func first() {
        let pose = Stage(Self.scene(.connect), at: 0).pose(at: 0)
        #expect(pose[.knob] == 1 && pose[.knobPlace] == 0 && pose[.label] == 1 && pose[.leavingLabel] == 0)
    }

    @Test("MO3: after loading, the knob fades in at its end in 0.4 s, and the label cross-fades", arguments: [0, 1])
    func loaded(_ place: Double) {
        let stage = change(.loading, place == 0 ? .connect : .connected)
        #expect(stage.pose(at: 10)[.knob] == 0 && stage.pose(at: 10.4)[.knob] == 1)
        for time in stride(from: 10.0, to: 10.4, by: Self.frame) { #expect(stage.pose(at: time)[.knobPlace] == place) }
        #expect(abs(stage.pose(at: 10.2)[.knob] - 0.5) < 0.02)
    }

    @Test("MO4: a label that leaves keeps its text and step, and the new one is unseen until half time")
    func labels() {
        let stage = change(.connect, .verifying)
        #expect(stage.leaving == Stage.Caption(text: "connect", step: .connect))
        #expect(stage.caption == Stage.Caption(text: "verifying", step: .verifying))
        for time in stride(from: 10.0, to: 10.2, by: Self.frame) { #expect(stage.pose(at: time)[.label] == 0) }
        #expect(stage.pose(at: 10)[.leavingLabel] == 1 && stage.pose(at: 10.4)[.label] == 1)
    }

    @Test(
        "MO5: a text that stays does not fade, and after two quick changes the newest old text leaves from where it was"
    )
    func sameText() {
        var stage = Stage(Self.scene(.verifying, "Verifying"), at: 0)
        stage.settle(at: 10)
        stage.show(Self.scene(.creatingAccount, "Verifying"), at: 10)
        #expect(stage.leaving == nil && stage.pose(at: 10.1)[.label] == 1)
        stage.show(Self.scene(.goingToService, "Going"), at: 11)
        stage.show(Self.scene(.connecting, "Connecting"), at: 11.3)
        #expect(stage.leaving?.text == "Going")
        #expect(abs(stage.pose(at: 11.3)[.leavingLabel] - 0.5) < 0.02 && stage.pose(at: 11.3)[.label] == 0)
        stage.settle(at: stage.end)
        #expect(stage.leaving == nil && stage.pose(at: 20)[.label] == 1)
    }

    @Test("MO12: the knob glides to the end and blends in; after 0.4 s nothing of it is left")
    func blends() {
        let stage = change(.connect, .verifying)
        let middle = stage.pose(at: 10.2)
        for channel in [Channel.knobPlace, .disc, .icon, .shadow] { #expect(abs(middle[channel] - 0.5) < 0.02) }
        #expect(stage.pose(at: 10.401)[.knob] == 0)
    }

    @Test("MO14: no text but Verifying is seen above the field, and the field is gone after 0.4 s")
    func emailToVerifying() {
        let stage = change(.email, .verifying)
        #expect(stage.leaving?.text == "" && stage.caption.text == "verifying")
        #expect(stage.pose(at: 10)[.field] == 1 && stage.pose(at: 10)[.confirm] == 1)
        #expect(stage.pose(at: 10.4)[.field] == 0 && stage.pose(at: 10.4)[.confirm] == 0)
        for time in stride(from: 10.0, to: 10.4, by: Self.frame) {
            let pose = stage.pose(at: time)
            #expect(abs(pose[.bar] + pose[.emailGround] - 1) < 1e-9, "MO16: its alpha follows the ground")
            #expect(pose[.label] == 0 || pose[.field] <= 0.5, "the new text is unseen until half time")
        }
    }

    @Test("MO15: the bar fills from the start, waits, never shrinks, and runs on from where it is")
    func bar() {
        var stage = change(.connect, .verifying)
        var before = 0.0
        for time in stride(from: 10.0, to: 11, by: Self.frame) {
            let fill = stage.pose(at: time)[.fill]
            #expect(fill >= before)
            before = fill
        }
        #expect(abs(stage.pose(at: 10.375)[.fill] - 0.25) < 0.01 && stage.pose(at: 10.76)[.fill] == 0.5)
        #expect(stage.pose(at: 60)[.fill] == 0.5, "it waits")
        stage.show(Self.scene(.disconnected), at: 60)
        #expect(stage.pose(at: 60)[.fill] == 0.5 && stage.pose(at: 60.2)[.bar] < 1)
        var disconnecting = change(.confirmDisconnect, .disconnecting)
        var gone = Self.scene(.disconnected)
        gone.bar = .upTo(1)
        disconnecting.show(gone, at: 13)
        #expect(disconnecting.pose(at: 13)[.fill] == 0.75 && disconnecting.pose(at: 13.376)[.fill] == 1)
        gone.bar = .upTo(0.5)
        disconnecting.show(gone, at: 14)
        #expect(disconnecting.pose(at: 20)[.fill] == 1, "less than what is shown")
    }

    @Test("a countdown runs empty in its time")
    func countdown() {
        var scene = Self.scene(.disconnecting)
        scene.bar = .countdown(remaining: 4, total: 8)
        let stage = Stage(scene, at: 0)
        #expect(stage.pose(at: 0)[.fill] == 0.5 && stage.pose(at: 2)[.fill] == 0.25 && stage.pose(at: 4)[.fill] == 0)
    }

    private static let brands = [
        "#0099FF", "#FF4500", "#6441A5", "#1DB954", "#FFFFFF", "#000000", "#FFE600", "#222222", "#808080", "#777777",
        "#E60023", "#00A4EF", "#F25022", "#7FBA00", "#2B8A3E", "#FF66CC", "#00FFFF", "#8B4513", "#3B5998", "#FFA500",
    ]

    /// A change in which the ground or the bar under a text changes.
    typealias Change = (before: ConnectButtonState.Step, now: ConnectButtonState.Step)

    /// The least contrast of each text from alpha 0.8 up, in each frame, on the ground and on the bar under it.
    private func leastContrast(_ change: Change, brand: String, isGroundAtRest: Bool? = nil) -> Double {
        let stage = self.change(change.before, change.now)
        var least = Double.infinity
        for scheme in ConnectButtonColors.Scheme.allCases {
            let (colors, palette) = (
                ConnectButtonColors.standard, ConnectButtonPalette(ConnectButtonColor(brand), scheme: scheme)
            )
            for time in stride(from: 10.0, to: 12, by: Self.frame) {
                let pose = stage.pose(at: time)
                if let isGroundAtRest, isGroundAtRest != [0, 1].contains(pose[.brandGround]) { continue }
                let ground = colors.pill[scheme].mixed(with: palette.ground, share: pose[.brandGround])
                let bar = colors.progress[scheme].mixed(with: palette.progress, share: pose.tint)
                for (step, alpha) in [(change.before, pose[.leavingLabel]), (change.now, pose[.label])]
                where alpha >= 0.8 {
                    let ink = ConnectButtonLook(step).ground == .brand ? palette.ink : colors.pillInk[scheme]
                    least = min(least, ink.contrast(with: ground))
                    if pose[.fill] > 0 {
                        least = min(least, ink.contrast(with: ground.mixed(with: bar, share: pose[.bar])))
                    }
                }
            }
        }
        return least
    }

    @Test("MO17: a text that can be read stands out from the ground and the bar under it", arguments: brands)
    func readable(_ brand: String) {
        for way: Change in [
            (.verifying, .goingToService), (.creatingAccount, .goingToService), (.goingToService, .connecting),
            (.connecting, .connected),
        ] {
            let stage = change(way.before, way.now)
            #expect(stage.leaving?.step == way.before && stage.caption.step == way.now, "a text keeps its own colour")
            #expect(leastContrast(way, brand: brand) >= 4.5, "\(way)")
        }
    }

    /// The way back is none of MO17's. There the old text is on a ground that changes already: WCAG counts it as large and bold.
    @Test("a text can be read also on the way back from the service to Connect", arguments: brands)
    func readableOnTheWayBack(_ brand: String) {
        let way: Change = (.goingToService, .connect)
        #expect(leastContrast(way, brand: brand, isGroundAtRest: true) >= 4.5)
        #expect(leastContrast(way, brand: brand, isGroundAtRest: false) >= 3)
    }

    @Test("MO18, MO19, MO20: the mark is drawn and stands still, then the knob glides over, with its shadow at the end")
    func arrival() {
        let stage = change(.connecting, .connected)
        for time in stride(from: 10.0, to: 11.7, by: Self.frame) { #expect(stage.pose(at: time)[.label] == 0) }
        let still = stage.pose(at: 11.06)
        #expect(still[.ring] == 1 && still[.tick] == 1 && still[.mark] == 1 && still[.knob] == 0)
        for time in stride(from: 11.06, to: 11.5, by: Self.frame) { #expect(stage.pose(at: time) == still) }
        for time in stride(from: 11.5, to: 11.9, by: Self.frame) {
            let pose = stage.pose(at: time)
            #expect(abs(pose[.knobPlace] - 0.5 - pose[.markPlace]) < 1e-9)
        }
        #expect(stage.pose(at: 11.9)[.mark] == 0 && stage.arrival == 11.9)
        let end = stage.pose(at: 12)
        #expect(end[.knob] == 1 && end[.knobPlace] == 1 && end[.shadow] == 1 && end[.brandGround] == 0)
    }

    @Test("MO21: the answers fade, and the knob glides from the end to the start and blends in")
    func disconnects() {
        let asking = change(.connected, .confirmDisconnect)
        #expect(asking.pose(at: 10)[.choices] == 0 && asking.pose(at: 10.4)[.choices] == 1)
        let stage = change(.confirmDisconnect, .disconnecting)
        let first = stage.pose(at: 10)
        #expect(first[.choices] == 1 && first[.knob] == 1 && first[.knobPlace] == 1 && first[.disc] == 1)
        #expect(stage.pose(at: 10.31)[.knob] == 1 && abs(stage.pose(at: 10.36)[.knob] - 0.5) < 0.02)
        #expect(stage.pose(at: 10.401)[.knob] == 0)
    }

    @Test("MO22: back at Connect, the knob appears at the start and the bar fades in place")
    func returns() {
        var scene = Self.scene(.disconnected)
        scene.bar = .upTo(1)
        var stage = Stage(scene, at: 0)
        stage.settle(at: 10)
        stage.show(Self.scene(.connect), at: 10)
        for time in stride(from: 10.0, to: 10.5, by: Self.frame) {
            let pose = stage.pose(at: time)
            #expect(pose[.knobPlace] == 0 && pose[.fill] == 1)
            #expect(time >= 10.4 || abs(pose[.knob] + pose[.bar] - 1) < 1e-9)
        }
    }

    @Test("MO25: with reduced motion every change is complete in its first frame", arguments: steps, steps)
    func reduced(_ before: ConnectButtonState.Step, _ now: ConnectButtonState.Step) {
        var stage = Stage(Self.scene(before), at: 0)
        stage.settle(at: 10)
        stage.reducesMotion = true
        stage.show(Self.scene(now), at: 10)
        #expect(stage.pose(at: 10) == stage.pose(at: 100) && stage.leaving == nil && stage.end <= 10)
    }

    @Test("MO28: a change in the middle of another one starts from the present values", arguments: steps, steps)
    func interrupted(_ middle: ConnectButtonState.Step, _ last: ConnectButtonState.Step) {
        for before in [ConnectButtonState.Step.connect, .connected, .email, .connecting, .disconnected]
        where before != middle {
            for seconds in [0.1, 0.2, 0.45, 1.6] {
                var stage = change(before, middle)
                let present = stage.pose(at: 10 + seconds)
                stage.show(Self.scene(last), at: 10 + seconds)
                let next = stage.pose(at: 10 + seconds)
                // What is not seen may take its place; the texts are others; the drawing of a mark begins.
                for channel in Channel.allCases where !channel.isOfLabel && !channel.isOfDrawing && channel != .mark {
                    let seen =
                        channel.visibility.map { present[$0] > 0 && next[$0] > 0 }
                        ?? (channel != .knob || present[.knob] > 0 || next[.knob] == 0)
                    guard seen, last != middle else { continue }
                    #expect(abs(next[channel] - present[channel]) < 0.001, "\(before), \(middle), \(last): \(channel)")
                }
            }
        }
    }

    @Test("every change ends at the rest of its step", arguments: steps, steps)
    func ends(_ before: ConnectButtonState.Step, _ now: ConnectButtonState.Step) {
        var stage = change(before, now)
        stage.settle(at: stage.end)
        let (pose, rest) = (stage.pose(at: 100), Stage(Self.scene(now), at: 0).pose(at: 100))
        for channel in Channel.allCases where channel != .knobPlace && channel != .fill {
            #expect(pose[channel] == rest[channel], "\(channel)")
        }
        if ConnectButtonLook(now).knob != .hidden { #expect(pose[.knobPlace] == rest[.knobPlace]) }
    }
}
