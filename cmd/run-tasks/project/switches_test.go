package project

import "testing"

// TestSwitchOf finds the switch use-ema in declarations as programs write them.
func TestSwitchOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, form string }{
		{`p.add_argument("--use-ema", action=argparse.BooleanOptionalAction, default=True)`, "no"},
		{"p.add_argument(\n    '--use-ema', default = True,\n    action=BooleanOptionalAction)", "no"},
		{`p.add_argument("--use-ema", action=argparse.BooleanOptionalAction, default=False)`, ""},
		{`p.add_argument("--use-ema-too", action=BooleanOptionalAction, default=True)`, ""},
		{`p.add_argument("--use-ema", action="store_true")`, ""},
		{`@click.option("--use-ema/--no-use-ema", default=True, help="average weights")`, "no"},
		{`@click.option("--use-ema/--no-use-ema")`, ""},
		{`flags.DEFINE_bool("use_ema", True, "average weights")`, "value"},
		{"flags.DEFINE_boolean(\n    'use_ema', True, 'average weights')", "value"},
		{`flags.DEFINE_bool("use_ema", False, "average weights")`, ""},
		{"import tyro\n@dataclass\nclass Args:\n    use_ema: bool = True\n", "no"},
		{"import typer\ndef main(use_ema: bool = typer.Option(True)): ...", "no"},
		{"from typer import run\ndef main(use_ema: bool = True): ...", "no"},
		{"import fire\ndef train(lr=0.1, use_ema=True): ...", "value"},
		{"import fire\ndef train(lr=0.1, use_ema=False): ...", ""},
		{"class Args:\n    use_ema: bool = True\n", ""},
	} {
		if got := switchOf(c.script, "use-ema"); got != c.form {
			t.Errorf("%q: %q, want %q", c.script, got, c.form)
		}
	}
}
