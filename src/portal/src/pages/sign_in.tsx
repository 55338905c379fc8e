// sign_in.tsx - the log-in page
import { useEffect, useState } from "preact/hooks";
import { CallError } from "../call";
import { textOf } from "../parts/messages";
import { useCall } from "../parts/use_call";
import { beginLogin } from "../provider_login";
import { loginError, signIn } from "../session";
import { language, setLanguage, t } from "../texts";

/* What is not accepted: whether a name exists is nobody's business. */
const REFUSALS = ["InvalidParametersError", "IncorrectPasswordError", "NoUserError"];

const said = (failure: unknown) => failure instanceof CallError && REFUSALS.includes(failure.code) ? t("wrongLogin") : textOf(failure);

export function SignIn() {
  const method = useCall("authn.info", {});
  const [error, setError] = useState(loginError.value);
  const [isBusy, setBusy] = useState(false);

  useEffect(() => { document.title = `${t("signIn")} · OpenPAI`; });
  async function onSubmit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    try {
      await signIn(String(form.get("username")), String(form.get("password")));
    } catch (failure) {
      setError(said(failure));
      setBusy(false);
    }
  }
  return <main class="sign-in">
    <form onSubmit={event => void onSubmit(event)}>
      <h1>{t("signInTo")}</h1>
      {error !== "" && <p class="failed" role="alert">{error}</p>}
      {method.value?.authn_type === "OIDC"
        ? <button type="button" class="main" onClick={() => beginLogin()}>{t("signInWith")}</button>
        : <>
          <label>{t("userName")}<input name="username" autocomplete="username" required autoFocus /></label>
          <label>{t("password")}<input name="password" type="password" autocomplete="current-password" required /></label>
          <button type="submit" class="main" disabled={isBusy}>{t("signIn")}</button>
        </>}
    </form>
    <p><button type="button" class="plain" onClick={() => setLanguage(language.value === "en" ? "zh" : "en")}>{t("language")}</button></p>
  </main>;
}
