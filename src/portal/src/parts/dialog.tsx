// dialog.tsx - questions before something is stopped or removed
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../texts";

interface Question { text: string; yes: string; field?: string; answer: (value: string | null) => void }

const question = signal<Question | null>(null);

/** Asks; the answer is what was typed into the field ("" without one), or null. */
export function ask(text: string, yes: string, field?: string): Promise<string | null> {
  return new Promise(answer => {
    question.value = { text, yes, answer, ...field !== undefined && { field } };
  });
}

export function Dialogs() {
  const asked = question.value;
  return asked === null ? null : <Asking key={asked.text} asked={asked} />;
}

function Asking({ asked }: { asked: Question }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);

  useEffect(() => {
    dialog.current?.showModal();
    return () => end(null); // signed out meanwhile
  }, []);
  function end(value: string | null): void {
    if (question.value !== asked)
      return;
    dialog.current?.close(); // gives the focus back
    question.value = null;
    asked.answer(value);
  }
  return <dialog ref={dialog} aria-label={asked.text} onClose={() => end(null)}>
    <form method="dialog" onSubmit={event => { event.preventDefault(); end(field.current?.value ?? ""); }}>
      <p>{asked.text}</p>
      {asked.field !== undefined && <label>{asked.field}<input ref={field} /></label>}
      <p class="buttons">
        <button type="button" onClick={() => end(null)}>{t("cancel")}</button>
        <button type="submit" class="main">{asked.yes}</button>
      </p>
    </form>
  </dialog>;
}
