import Testing

@testable import ConnectButton

@Suite("The button's look")
struct LookTests {
    /// A sweep through the colour cube, with the corners.
    private static let manyBrands: [ConnectButtonColor] = stride(from: 0.0, through: 1, by: 0.125).flatMap { red in
        stride(from: 0.0, through: 1, by: 0.125).flatMap { green in
            stride(from: 0.0, through: 1, by: 0.125).map { ConnectButtonColor(red: red, green: green, blue: $0) }
        }
    }

    @Test("the dossier's table of brands comes out of the arithmetic", arguments: try Vectors.read().palette)
    func table(_ vector: Vectors.Palette) {
        let brand = ConnectButtonColor(vector.brand)
        let pill = ConnectButtonColors.standard.pill
        #expect(brand.contrasting().hexadecimal == vector.progress)
        #expect(ConnectButtonPalette.knob(brand, on: pill.light).hexadecimal == vector.knobOnLight)
        #expect(ConnectButtonPalette.knob(brand, on: pill.dark).hexadecimal == vector.knobOnDark)
    }

    @Test("a colour is six hexadecimal digits or black", arguments: try Vectors.read().colors)
    func parsing(_ pair: [String]) {
        #expect(ConnectButtonColor(pair[0]).hexadecimal == pair[1])
    }

    @Test("a difference in brightness of exactly 0.2 is too close")
    func boundary() {
        func grey(_ value: Double) -> ConnectButtonColor { ConnectButtonColor(red: value, green: value, blue: value) }
        #expect(grey(0.8).isTooClose(to: grey(1)))
        #expect(grey(0.3).isTooClose(to: grey(0.1)))
        #expect(!grey(0.79).isTooClose(to: grey(1)))
    }

    @Test("whatever the brand, text, icon and knob meet WCAG AA", arguments: ConnectButtonColors.Scheme.allCases)
    func everyBrandReads(_ scheme: ConnectButtonColors.Scheme) {
        let track = ConnectButtonColors.standard.pill[scheme]
        for brand in Self.manyBrands {
            let palette = ConnectButtonPalette(brand, scheme: scheme)
            #expect(palette.ink.contrast(with: palette.ground) >= 4.5, "text on \(brand.hexadecimal)")
            #expect(palette.ink.contrast(with: palette.progress) >= 4.5, "text on the progress of \(brand.hexadecimal)")
            #expect(palette.knob.contrast(with: track) >= 3, "the knob of \(brand.hexadecimal)")
            #expect(palette.knobInk.contrast(with: palette.knob) >= 3, "the icon on the knob of \(brand.hexadecimal)")
            #expect(palette.confirmInk.contrast(with: palette.confirm) >= 3, "the glyph of \(brand.hexadecimal)")
        }
    }

    @Test("colours without a brand meet WCAG AA", arguments: ConnectButtonColors.Scheme.allCases)
    func fixedColors(_ scheme: ConnectButtonColors.Scheme) {
        let colors = ConnectButtonColors.standard
        let page: ConnectButtonColor = scheme == .light ? .white : ConnectButtonColor("#121212")
        let pairs: [(ConnectButtonColors.Pair, ConnectButtonColor)] = [
            (colors.pillInk, colors.pill[scheme]), (colors.pillInk, colors.progress[scheme]), (colors.footer, page),
            (colors.error, page), (colors.emailInk, colors.emailTrack[scheme]),
            (colors.emailPlaceholder, colors.emailTrack[scheme]), (colors.aboutInk, colors.about[scheme]),
            (colors.aboutSecondary, colors.about[scheme]), (colors.aboutInk, colors.aboutManage[scheme]),
        ]
        for (color, ground) in pairs { #expect(color[scheme].contrast(with: ground) >= 4.5) }
        for ground in [page, colors.pill[scheme], colors.about[scheme]] {
            #expect(colors.focus[scheme].contrast(with: ground) >= 3)
        }
    }

    @Test("the size is the description's: 70 high, at most 329 wide")
    func size() {
        #expect(ConnectButtonGeometry.standard.height == 70)
        #expect(ConnectButtonGeometry.standard.maximumWidth == 329)
        #expect(ConnectButtonGeometry.standard.cornerRadius == 35)
        #expect(ConnectButtonGeometry.standard.knobDiameter == 70 - 2 * 4)
    }

    @Test("each step is drawn as table 4.4 has it")
    func table44() {
        let rows:
            [ConnectButtonState.Step: (ConnectButtonLook.Ground, ConnectButtonLook.Knob, ConnectButtonLook.Input)] = [
                .hidden: (.pill, .hidden, .none), .loading: (.pill, .hidden, .none),
                .loadingFailed: (.pill, .hidden, .none),
                .connect: (.pill, .start, .turnOn), .email: (.email, .hidden, .email),
                .verifying: (.pill, .hidden, .none),
                .creatingAccount: (.pill, .hidden, .none), .goingToService: (.brand, .hidden, .proceed),
                .connecting: (.brand, .hidden, .none), .connected: (.pill, .end, .turnOff),
                .pending: (.pill, .end, .setUp),
                .confirmDisconnect: (.pill, .hidden, .choice), .disconnecting: (.pill, .hidden, .none),
                .disconnected: (.pill, .hidden, .turnOn),
            ]
        #expect(rows.count == ConnectButtonState.Step.allCases.count)
        for (step, row) in rows {
            let look = ConnectButtonLook(step)
            #expect(look.ground == row.0 && look.knob == row.1 && look.input == row.2, "\(step)")
            #expect(look.pulses == (step == .loading))
            #expect(look.isOn == [.connected, .pending, .confirmDisconnect].contains(step))
        }
    }

    @Test("a finger's velocity is counted in widths and along the change")
    func velocity() {
        #expect(KnobDrag(.on, way: 259).velocity(329, width: 329) == 1)
        #expect(KnobDrag(.off, way: 259).velocity(329, width: 329) == -1)
        #expect(KnobDrag(.on, way: 259, isRightToLeft: true).velocity(-658, width: 329) == 2)
        #expect(KnobDrag(.off, way: 259, isRightToLeft: true).velocity(329, width: 329) == 1)
        #expect(KnobDrag(.on, way: 259).velocity(10, width: 0) == 0)
    }
}
