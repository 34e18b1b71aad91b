#if Sandbox
import SandboxCore

extension Template {
    /// The configuration page: a group of fields a feature, with a switch.
    static let configure = Template(
        """
        <h1>Settings of <bdi>{{connection}}</bdi></h1>
        <form method="post" action="{{action}}">
        <input type="hidden" name="form_token" value="{{formToken}}">
        {{#features}}<fieldset><legend><bdi>{{title}}</bdi></legend>
        {{#about}}<p class="note"><bdi>{{about}}</bdi></p>{{/about}}
        <div class="check"><input id="{{name}}" name="{{name}}" type="checkbox" value="on"{{#isOn}} checked{{/isOn}}>\
        <label for="{{name}}">Use this</label></div>
        {{#fields}}
        {{#isText}}<div class="field"><label for="{{name}}">{{label}}</label>
        <input id="{{name}}" name="{{name}}" type="text" value="{{value}}"{{#fault}} aria-invalid="true" \
        aria-describedby="{{name}}-fault"{{/fault}}></div>{{/isText}}
        {{#isArea}}<div class="field"><label for="{{name}}">{{label}}</label>
        <textarea id="{{name}}" name="{{name}}" rows="3"{{#fault}} aria-invalid="true" \
        aria-describedby="{{name}}-fault"{{/fault}}>{{value}}</textarea></div>{{/isArea}}
        {{#isChoice}}<div class="field"><label for="{{name}}">{{label}}</label>
        <select id="{{name}}" name="{{name}}"{{#fault}} aria-invalid="true" aria-describedby="{{name}}-fault"{{/fault}}>
        <option value="">Please choose</option>{{#options}}
        <option value="{{optionValue}}"{{#isChosen}} selected{{/isChosen}}>{{optionLabel}}</option>{{/options}}
        </select></div>{{/isChoice}}
        {{#isChoices}}<div class="group" role="group" aria-labelledby="{{name}}-label"><p id="{{name}}-label">{{label}}</p>
        {{#options}}<div class="check"><input id="{{optionName}}" name="{{name}}" type="checkbox" value="{{optionValue}}"\
        {{#isChosen}} checked{{/isChosen}}><label for="{{optionName}}">{{optionLabel}}</label></div>{{/options}}</div>\
        {{/isChoices}}
        {{#isLocation}}<div class="group" role="group" aria-labelledby="{{name}}-label"\
        {{#fault}} aria-describedby="{{name}}-fault"{{/fault}}><p id="{{name}}-label">{{label}}</p>
        <div class="parts">{{#parts}}<div class="field"><label for="{{partName}}">{{partLabel}}</label>
        <input id="{{partName}}" name="{{partName}}" type="text"{{#isNumber}} inputmode="decimal"{{/isNumber}} \
        value="{{partValue}}"></div>{{/parts}}</div></div>{{/isLocation}}
        {{#isUnknown}}<div class="field"><p class="unknown"><strong>{{label}}</strong> \
        <span class="note">Fields of the type <code>{{type}}</code> cannot be changed here; this one stays \
        <code>{{value}}</code>.</span></p></div>{{/isUnknown}}
        {{#fault}}<p class="fault" id="{{name}}-fault"><strong>{{label}}</strong> {{fault}}</p>{{/fault}}
        {{/fields}}</fieldset>{{/features}}
        <div class="choices"><button type="submit" name="do" value="save">{{verb}}</button></div></form>
        """)
}
#endif
