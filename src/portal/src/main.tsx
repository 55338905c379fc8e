// main.tsx - starts the portal: the session, the frame, and the page of each address
import { render } from "preact";
import { Frame } from "./frame";
import { takeReturn } from "./provider_login";
import { go } from "./router";
import { startSession, who } from "./session";
import { SignIn } from "./pages/sign_in";
import { language, setLanguage } from "./texts";
import { startTheme } from "./theme";

function Portal() {
  if (who.value === undefined)
    return null;
  return who.value === null ? <SignIn /> : <Frame key={who.value.name} who={who.value} />;
}

const back = takeReturn();
if (back !== null)
  go(back.to, { replace: true }); // the code leaves the address and the history
startTheme();
setLanguage(language.value);
render(<Portal />, document.getElementById("portal")!);
void startSession(back);
